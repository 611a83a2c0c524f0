const ORIGINAL_TYPES: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  avi: 'video/x-msvideo',
  mkv: 'video/x-matroska',
  webm: 'video/webm',
};

function extensionOf(fileName: string): string | null {
  const extension = /\.([a-z0-9]{2,4})$/i.exec(fileName)?.[1]?.toLowerCase() ?? '';
  return extension in ORIGINAL_TYPES ? extension : null;
}

/** Media type of an untouched original by its name; never one that a browser would run. */
export function originalType(fileName: string): string {
  const extension = extensionOf(fileName);
  return (extension && ORIGINAL_TYPES[extension]) ?? 'application/octet-stream';
}

/**
 * File name for the download of an original: the id and a known extension, so that no text from people gets into a
 * header.
 */
export function originalName(videoId: string, fileName: string): string {
  return `original-${videoId}.${extensionOf(fileName) ?? 'bin'}`;
}
