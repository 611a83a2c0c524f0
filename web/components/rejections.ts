import type { FileRejection } from 'react-dropzone';
import { MAX_UPLOAD_BYTES, MIN_UPLOAD_BYTES } from '#common/limits.ts';
import { uploadTexts } from '../texts/uploads.ts';

/** The specified text for a rejected file; `types` is the list of accepted types. */
export function rejectionText(rejections: readonly FileRejection[], types: string): string {
  const { reject } = uploadTexts;
  const codes = rejections.flatMap(({ errors }) => errors.map(({ code }) => code));
  if (codes.includes('too-many-files')) return reject.many;
  const [code] = codes;
  if (code === 'file-too-large') return reject.large(MAX_UPLOAD_BYTES);
  if (code === 'file-too-small') return reject.small(MIN_UPLOAD_BYTES);
  return reject.type(types);
}
