import { type ComponentType, lazy, type LazyExoticComponent } from 'react';
import { matchPath } from 'react-router-dom';

export interface RoutePage {
  readonly path: string;
  /** `signed-in` pages show visitors the auth page at the same address. */
  readonly access: 'all' | 'signed-in';
  /** Loads the page's code; repeated calls share one download. */
  readonly load: () => Promise<ComponentType>;
  readonly Page: LazyExoticComponent<ComponentType>;
}

function page(path: string, access: RoutePage['access'], load: RoutePage['load']): RoutePage {
  return { path, access, load, Page: lazy(async () => ({ default: await load() })) };
}

/** The table of screens (specification section 2); each page is loaded when it is first opened. */
export const ROUTES: readonly RoutePage[] = [
  page('/', 'all', async () => (await import('./pages/landing/landing-page.tsx')).LandingPage),
  page('/auth', 'all', async () => (await import('./pages/auth/auth-page.tsx')).AuthPage),
  page(
    '/verify-email',
    'all',
    async () => (await import('./pages/verify-email/verify-email-page.tsx')).VerifyEmailPage,
  ),
  page('/mailbox', 'all', async () => (await import('./pages/mailbox/mailbox-page.tsx')).MailboxPage),
  page(
    '/reset-password',
    'all',
    async () => (await import('./pages/reset-password/reset-password-page.tsx')).ResetPasswordPage,
  ),
  page('/videos', 'signed-in', async () => (await import('./pages/videos/videos-page.tsx')).VideosPage),
  page(
    '/videos/:id/report',
    'signed-in',
    async () => (await import('./pages/report/report-page.tsx')).ReportPage,
  ),
  page(
    '/videos/:id/report/:versionId',
    'signed-in',
    async () => (await import('./pages/report/marked-report-page.tsx')).MarkedReportPage,
  ),
  page(
    '/editor/:videoId?',
    'signed-in',
    async () => (await import('./pages/editor/editor-page.tsx')).EditorPage,
  ),
  page('/drafts', 'signed-in', async () => (await import('./pages/drafts/drafts-page.tsx')).DraftsPage),
  page(
    '/nice2have',
    'signed-in',
    async () => (await import('./pages/nice2have/nice2have-page.tsx')).Nice2HavePage,
  ),
  page('/subscribe', 'all', async () => (await import('./pages/subscribe/to-pricing.tsx')).ToPricing),
  page(
    '/subscribe/:plan',
    'signed-in',
    async () => (await import('./pages/subscribe/subscribe-page.tsx')).SubscribePage,
  ),
  page('/account', 'signed-in', async () => (await import('./pages/account/account-page.tsx')).AccountPage),
  page(
    '/analytics',
    'signed-in',
    async () => (await import('./pages/analytics/analytics-page.tsx')).AnalyticsPage,
  ),
  page('/upgrade', 'all', async () => (await import('./pages/upgrade/upgrade-page.tsx')).UpgradePage),
  page('/verify', 'all', async () => (await import('./pages/verify/verify-page.tsx')).VerifyPage),
  page('/video/:id', 'all', async () => (await import('./pages/share/share-page.tsx')).SharePage),
  page('/fonts', 'all', async () => (await import('./pages/fonts/fonts-page.tsx')).FontsPage),
  page('*', 'all', async () => (await import('./pages/not-found/not-found-page.tsx')).NotFoundPage),
];

/**
 * Starts to load the page of an address before it is known who is signed in, so that both run in parallel. A failure is
 * reported when the page is shown.
 */
export function preloadPage(pathname: string): void {
  const found = ROUTES.find(({ path }) => matchPath(path, pathname) !== null);
  found?.load().catch(() => undefined);
}
