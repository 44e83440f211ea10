"use client";
import { Gauge } from "lucide-react";
import {
  MediaControlBar,
  MediaFullscreenButton,
  MediaMuteButton,
  MediaPipButton,
  MediaPlayButton,
  MediaPreviewTimeDisplay,
  MediaTimeDisplay,
  MediaTimeRange,
  MediaVolumeRange,
} from "media-chrome/react";
import {
  MediaAudioTrackMenu,
  MediaAudioTrackMenuButton,
  MediaCaptionsMenu,
  MediaCaptionsMenuButton,
  MediaPlaybackRateMenu,
  MediaPlaybackRateMenuButton,
  MediaRenditionMenu,
  MediaRenditionMenuButton,
} from "media-chrome/react/menu";
import { StoryboardPreview } from "./storyboard-preview.tsx";

const speeds = [0.5, 0.75, 1, 1.25, 1.5, 2];

/** The bar below the film. Parts that the film or the browser lacks (captions, picture in picture) hide themselves. */
export function PlayerControls() {
  return (
    <>
      <MediaPlaybackRateMenu hidden anchor="auto" rates={speeds} />
      <MediaRenditionMenu hidden anchor="auto" />
      <MediaAudioTrackMenu hidden anchor="auto" />
      <MediaCaptionsMenu hidden anchor="auto" />
      <div className="reelkeep-bar">
        <MediaTimeRange>
          <StoryboardPreview />
          <MediaPreviewTimeDisplay slot="preview" />
        </MediaTimeRange>
        <MediaControlBar>
          <MediaPlayButton />
          <MediaMuteButton />
          <MediaVolumeRange className="reelkeep-wide-only" />
          <MediaTimeDisplay showDuration noToggle />
          <span className="reelkeep-space" />
          <MediaAudioTrackMenuButton />
          <MediaCaptionsMenuButton />
          <MediaPlaybackRateMenuButton>
            <Gauge slot="icon" aria-hidden />
          </MediaPlaybackRateMenuButton>
          <MediaRenditionMenuButton />
          <MediaPipButton className="reelkeep-wide-only" />
          <MediaFullscreenButton />
        </MediaControlBar>
      </div>
    </>
  );
}
