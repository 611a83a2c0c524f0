import { notificationsApi } from '#common/api/notifications.ts';
import { createRouter, type AppRouter } from '../http/context.ts';
import { signedIn } from '../http/route.ts';
import type { NotificationsService } from './notifications.service.ts';

/** `/api/notifications`. */
export function createNotificationsRoutes(notifications: NotificationsService): AppRouter {
  const router = createRouter();

  signedIn(router, notificationsApi.list, async ({ user }) => notifications.list(user.id));

  signedIn(router, notificationsApi.markRead, async ({ user, body }) => {
    await notifications.markRead(user.id, body?.ids ?? null);
    return { message: 'Marked as read.' };
  });

  return router;
}
