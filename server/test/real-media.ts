import path from 'node:path';

/** Recordings beside the project that are not part of it; tests that use them are skipped when the folder is absent. */
export const REAL_MEDIA = path.resolve(import.meta.dirname, '../../../shared/media');
