import { z } from 'zod';
import { defineEndpoint, id, messageBody } from './endpoint.ts';

export const notificationDto = z.object({
  id,
  kind: z.enum(['video_ready', 'video_failed', 'idea_status', 'draft_expiry', 'draft_damaged', 'trial']),
  title: z.string(),
  body: z.string(),
  /** Page of the application that it links to; null when there is none. */
  link: z.string().nullable(),
  read: z.boolean(),
  createdAt: z.string(),
});
export type NotificationDto = z.infer<typeof notificationDto>;

export const notificationsApi = {
  list: defineEndpoint({
    method: 'GET',
    path: '/api/notifications',
    summary: 'The newest fifty notices of the account and how many are unread in all.',
    response: z.object({ notifications: z.array(notificationDto), unread: z.number().int() }),
  }),
  markRead: defineEndpoint({
    method: 'POST',
    path: '/api/notifications/read',
    summary: 'Marks notices as read; all of them when no ids are given.',
    body: z.object({ ids: z.array(id).max(200).optional() }).optional(),
    response: messageBody,
  }),
} as const;
