import { z } from 'zod';

/** How captions are drawn into the picture (plans Creator Pro and up, D-43). */
export const captionStyle = z.enum(['box', 'outline', 'words']);
export type CaptionStyle = z.infer<typeof captionStyle>;
