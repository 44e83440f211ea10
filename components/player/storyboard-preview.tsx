"use client";
import { MediaPreviewThumbnail } from "media-chrome/react";

/** The storyboard's picture for the time under the pointer. Its own request would go without the film's cookies. */
export const StoryboardPreview = () => <MediaPreviewThumbnail slot="preview" ref={sendCookies} />;

function sendCookies(element: HTMLElement | null): void {
  const image = element?.shadowRoot?.querySelector("img");
  if (image) image.crossOrigin = "use-credentials";
}
