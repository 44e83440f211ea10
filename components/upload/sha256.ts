/**
 * The SHA-256 of a whole file in base64, as a single PUT signs it. The browser reads the file into memory at
 * once, so this is for files below the multipart threshold; parts are protected by TLS and their ETags.
 */
export async function sha256Base64(file: Blob): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}
