import type { z } from 'zod';
import { accountApi, accountExportPath } from '#common/api/account.ts';
import { analyticsApi, analyticsCsvPath } from '#common/api/analytics.ts';
import { apiAccessApi } from '#common/api/api-access.ts';
import { authApi } from '#common/api/auth.ts';
import { burnedCaptionsPath, captionsApi, sharedCaptionsPath, subRipPath } from '#common/api/captions.ts';
import { comparisonApi, comparisonMediaPath } from '#common/api/comparison.ts';
import { draftDownloadPath, draftsApi } from '#common/api/drafts.ts';
import type { AnyEndpoint, HttpMethod } from '#common/api/endpoint.ts';
import { certificatePath, certificatesApi, versionCertificatePath } from '#common/api/certificates.ts';
import { ideasApi } from '#common/api/ideas.ts';
import { notificationsApi } from '#common/api/notifications.ts';
import { platformExportPath, quickFixesApi } from '#common/api/quick-fixes.ts';
import { storylineApi } from '#common/api/storyline.ts';
import { subscriptionApi } from '#common/api/subscription.ts';
import { uploadsApi } from '#common/api/uploads.ts';
import { frameQuery, mediaPaths, videosApi } from '#common/api/videos.ts';

/**
 * Who may make a call. `public`: anyone; `token`: a signed-in user or a personal access token; `session`: only a
 * signed-in user, because the call concerns the account itself.
 */
export type Access = 'public' | 'token' | 'session';

export interface Operation {
  /** Group and name, e.g. `videos.list`; unique. */
  readonly id: string;
  readonly group: string;
  readonly access: Access;
  readonly endpoint: AnyEndpoint;
}

/** A call that answers with a file instead of JSON. */
export interface FileOperation {
  readonly id: string;
  readonly group: string;
  readonly access: Access;
  readonly method: HttpMethod;
  readonly path: string;
  readonly summary: string;
  readonly contentType: string;
  readonly query?: z.ZodType;
}

const GROUPS: Readonly<Record<string, Readonly<Record<string, AnyEndpoint>>>> = {
  auth: authApi,
  videos: videosApi,
  captions: captionsApi,
  comparison: comparisonApi,
  certificates: certificatesApi,
  uploads: uploadsApi,
  drafts: draftsApi,
  storyline: storylineApi,
  fixes: quickFixesApi,
  ideas: ideasApi,
  notifications: notificationsApi,
  subscription: subscriptionApi,
  account: accountApi,
  tokens: apiAccessApi,
  analytics: analyticsApi,
};

const SESSION_GROUPS: readonly string[] = ['subscription', 'account', 'tokens'];

// Operations with other access than their group; for example, signed-out visitors can see what an owner shares.
const EXCEPTIONS: Readonly<Record<string, Access>> = {
  'auth.currentUser': 'token',
  'auth.changePassword': 'session',
  'videos.sharedVideo': 'public',
  'certificates.key': 'public',
};

/** Access of an operation: its exception, else that of its group. */
function accessOf(id: string, group: string): Access {
  const fallback = group === 'auth' ? 'public' : SESSION_GROUPS.includes(group) ? 'session' : 'token';
  return EXCEPTIONS[id] ?? fallback;
}

/** Every JSON call of the API, from the endpoint objects that router and browser client use. */
export function allOperations(): Operation[] {
  return Object.entries(GROUPS).flatMap(([group, endpoints]) =>
    Object.entries(endpoints).map(([name, endpoint]) => {
      const id = `${group}.${name}`;
      return { id, group, access: accessOf(id, group), endpoint };
    }),
  );
}

/** The calls that answer with a file. */
export function fileOperations(): FileOperation[] {
  const file = (
    id: string,
    path: string,
    contentType: string,
    summary: string,
    access: Access = 'token',
  ): FileOperation => ({
    id,
    group: id.slice(0, id.indexOf('.')),
    access,
    method: 'GET',
    path,
    summary,
    contentType,
  });
  return [
    file('videos.stream', mediaPaths.stream, 'video/mp4', 'The current version, in ranges, for playing.'),
    file('videos.download', mediaPaths.download, 'video/mp4', 'The current version as a file.'),
    file(
      'videos.version',
      mediaPaths.version,
      'video/mp4',
      'An earlier version, or the current one, as it is.',
    ),
    file('videos.poster', mediaPaths.poster, 'image/jpeg', 'A still picture of the video.'),
    file('videos.captions', mediaPaths.captions, 'text/vtt', 'The captions as WebVTT.'),
    file('captions.subRip', subRipPath, 'application/x-subrip', 'The captions as SubRip.'),
    file('captions.burnedFile', burnedCaptionsPath, 'video/mp4', 'The clip with captions drawn into it.'),
    file('videos.certificate', certificatePath, 'application/json', 'The signed repair certificate.'),
    file(
      'videos.versionCertificate',
      versionCertificatePath,
      'application/json',
      'The signed certificate of one version.',
    ),
    {
      ...file(
        'videos.frame',
        mediaPaths.frame,
        'image/jpeg',
        'A single picture of the original or of the result.',
      ),
      query: frameQuery,
    },
    file('videos.sharedStream', mediaPaths.sharedStream, 'video/mp4', 'A shared video, in ranges.', 'public'),
    file('videos.sharedPoster', mediaPaths.sharedPoster, 'image/jpeg', 'A still picture of it.', 'public'),
    file('captions.shared', sharedCaptionsPath, 'text/vtt', 'The words of a shared video.', 'public'),
    file('videos.original', mediaPaths.original, 'application/octet-stream', 'The untouched original.'),
    file('fixes.export', platformExportPath, 'video/mp4', 'A file made for one platform.'),
    file('comparison.clip', comparisonMediaPath, 'video/mp4', 'Original and result in one clip.'),
    file(
      'drafts.download',
      draftDownloadPath,
      'application/octet-stream',
      'The untouched original of a draft.',
    ),
    file('analytics.csv', analyticsCsvPath, 'text/csv', 'The monthly figures as CSV (plan Creator Pro+).'),
    file(
      'account.export',
      accountExportPath,
      'application/x-tar',
      'Everything the account holds.',
      'session',
    ),
  ];
}
