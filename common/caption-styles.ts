import { z } from 'zod';

/** How captions are drawn into the picture (plans Creator Pro and up). */
export const captionStyle = z.enum(['box', 'outline', 'words']);
export type CaptionStyle = z.infer<typeof captionStyle>;
