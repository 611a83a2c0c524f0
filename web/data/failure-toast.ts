import { appTexts } from '../texts/app.ts';
import { serverMessageOf } from './api-client.ts';
import type { ToastContent } from './toasts.ts';

/** Why a call failed without an answer, which `fetch` tells by a TypeError; undefined when there was one. */
export function noAnswer(error: unknown): string | undefined {
  return error instanceof TypeError ? appTexts.noAnswer : undefined;
}

/**
 * Tells of a failed call: the server's own message, or `detail` when it gave none, and below that when it could not be
 * reached at all.
 */
export function failureToast(error: unknown, title: string, detail: string): ToastContent {
  return withReason(
    { title, description: serverMessageOf(error) ?? detail, tone: 'destructive' },
    noAnswer(error),
  );
}

/** The same where the specification gives both texts: the server's message stands below them. */
export function specifiedFailureToast(error: unknown, title: string, detail: string): ToastContent {
  return withReason(
    { title, description: detail, tone: 'destructive' },
    serverMessageOf(error) ?? noAnswer(error),
  );
}

function withReason(toast: ToastContent, reason: string | undefined): ToastContent {
  return reason === undefined ? toast : { ...toast, reason };
}
