import type { FileRejection } from 'react-dropzone';
import { MAX_UPLOAD_BYTES, MIN_UPLOAD_BYTES } from '#common/limits.ts';
import { uploadTexts } from '../texts/uploads.ts';

/** Why a dropped file was refused, in the specified words; `types` as the accepted types are listed (D-7). */
export function rejectionText(rejections: readonly FileRejection[], types: string): string {
  const { reject } = uploadTexts;
  const codes = rejections.flatMap(({ errors }) => errors.map(({ code }) => code));
  if (codes.includes('too-many-files')) return reject.many;
  const [code] = codes;
  if (code === 'file-too-large') return reject.large(MAX_UPLOAD_BYTES);
  if (code === 'file-too-small') return reject.small(MIN_UPLOAD_BYTES);
  return reject.type(types);
}
