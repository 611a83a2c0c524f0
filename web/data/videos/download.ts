import { useMutation, useQueryClient } from '@tanstack/react-query';
import { z } from 'zod';
import { buildPath } from '#common/api/endpoint.ts';
import { downloadFailure, mediaPaths, videosApi } from '#common/api/videos.ts';
import { videoTexts } from '#web/texts/videos.ts';
import { callApi } from '../api-client.ts';
import { useCancelWork } from '../cancel-work.ts';
import { absoluteUrl } from '../url.ts';
import { failureToast } from '../failure-toast.ts';
import { type ToastContent, useShowToast } from '../toasts.ts';
import { applyStatus } from './video-news.ts';

const { download: texts } = videoTexts;

/** The file in the plan's size is still being made, which is not a failure. */
const refusedWith = z.object({ code: z.literal('export_pending'), message: z.string() });

function isJson(answer: Response): boolean {
  return (answer.headers.get('Content-Type') ?? '').includes('json');
}

async function refusalToast(url: string): Promise<ToastContent> {
  // A HEAD answer has no body, so the refusal is requested again to get its text.
  const answer = await fetch(url, { credentials: 'include' });
  if (answer.ok && !isJson(answer)) {
    await answer.body?.cancel();
    return { title: texts.failedTitle, description: texts.failedText, tone: 'destructive' };
  }
  const body: unknown = await answer.json().catch(() => null);
  const failure = downloadFailure.partial().safeParse(body);
  const code = refusedWith.safeParse(body);
  if (code.success) return { title: videoTexts.limited.pending, description: code.data.message };
  if (failure.success && failure.data.demoMode)
    return { title: texts.demoTitle, description: texts.demoText };
  return {
    title: texts.failedTitle,
    description: (failure.success && failure.data.message) || texts.failedText,
    tone: 'destructive',
  };
}

/**
 * Checks that a file exists and lets the browser save it as `video-{id}.mp4`. The bytes go to the disk and not through
 * the page's memory, because results can have 2 GB.
 * @returns the toast to show when there is nothing to save, else null.
 */
export async function downloadVideo(id: string, page: 'dashboard' | 'library'): Promise<ToastContent | null> {
  const url = absoluteUrl(buildPath(mediaPaths.download, { id }));
  try {
    const answer = await fetch(url, { method: 'HEAD', credentials: 'include' });
    if (!answer.ok || isJson(answer)) return await refusalToast(url);
  } catch {
    return { title: texts.errorTitle, description: texts.errorText[page], tone: 'destructive' };
  }
  const link = document.createElement('a');
  link.href = url;
  link.download = `video-${id}.mp4`;
  document.body.append(link);
  link.click();
  link.remove();
  return null;
}

/** Saves a video's result; failures are shown as the specified toasts. */
export function useDownloadVideo(page: 'dashboard' | 'library'): (id: string) => Promise<void> {
  const showToast = useShowToast();
  return async (id) => {
    const failure = await downloadVideo(id, page);
    if (failure) showToast(failure);
  };
}

/** Requests the file that Download gives when the plan limits its size. */
export function useMakeExport() {
  const client = useQueryClient();
  const showToast = useShowToast();
  return useMutation({
    mutationFn: (id: string) => callApi(videosApi.exportLimited, { params: { id } }),
    onSuccess: (status) => applyStatus(client, status),
    onError: (error) => showToast(failureToast(error, videoTexts.limited.failed, videoTexts.tryAgain)),
  });
}

/** Cancels that file while it is waiting or being made. */
export function useCancelExport() {
  const client = useQueryClient();
  return useCancelWork({
    call: (id: string) => callApi(videosApi.cancelExport, { params: { id } }),
    onAnswer: (status) => applyStatus(client, status),
    failed: videoTexts.limited.cancelFailed,
    tryAgain: videoTexts.tryAgain,
  });
}
