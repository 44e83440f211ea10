import { createMultipartUpload } from "@reelkeep/services/sign-upload-request";
import { requireActor, serverContext } from "../../../../server/context.ts";
import { readId, route } from "../../../../server/handle.ts";

/** Answers as S3's CreateMultipartUpload does, because the browser's upload client expects that. */
export const POST = route<{ actionKey: string }>(async (_request, { actionKey }) => {
  const { key, uploadId } = await createMultipartUpload(
    serverContext(),
    await requireActor(),
    readId(actionKey),
  );
  const xml = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<InitiateMultipartUploadResult>",
    `<Key>${escapeXml(key)}</Key><UploadId>${escapeXml(uploadId)}</UploadId>`,
    "</InitiateMultipartUploadResult>",
  ].join("");
  return new Response(xml, {
    headers: { "content-type": "application/xml", "cache-control": "private, no-store" },
  });
});

const escapeXml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
