import { type ComponentType, lazy, type LazyExoticComponent } from 'react';

export interface RoutePage {
  readonly path: string;
  /** `signed-in` pages show the auth page at the same address to visitors. */
  readonly access: 'all' | 'signed-in';
  readonly Page: LazyExoticComponent<ComponentType>;
}

const editorPage = lazy(() =>
  import('./pages/editor/editor-page.tsx').then((module) => ({ default: module.EditorPage })),
);

/** The table of screens (specification section 2); every page is fetched when it is first opened. */
export const ROUTES: readonly RoutePage[] = [
  {
    path: '/',
    access: 'all',
    Page: lazy(() =>
      import('./pages/landing/landing-page.tsx').then((module) => ({ default: module.LandingPage })),
    ),
  },
  {
    path: '/auth',
    access: 'all',
    Page: lazy(() => import('./pages/auth/auth-page.tsx').then((module) => ({ default: module.AuthPage }))),
  },
  {
    path: '/verify-email',
    access: 'all',
    Page: lazy(() =>
      import('./pages/verify-email/verify-email-page.tsx').then((module) => ({
        default: module.VerifyEmailPage,
      })),
    ),
  },
  {
    path: '/mailbox',
    access: 'all',
    Page: lazy(() =>
      import('./pages/mailbox/mailbox-page.tsx').then((module) => ({ default: module.MailboxPage })),
    ),
  },
  {
    path: '/reset-password',
    access: 'all',
    Page: lazy(() =>
      import('./pages/reset-password/reset-password-page.tsx').then((module) => ({
        default: module.ResetPasswordPage,
      })),
    ),
  },
  {
    path: '/videos',
    access: 'signed-in',
    Page: lazy(() =>
      import('./pages/videos/videos-page.tsx').then((module) => ({ default: module.VideosPage })),
    ),
  },
  {
    path: '/videos/:id/report',
    access: 'signed-in',
    Page: lazy(() =>
      import('./pages/report/report-page.tsx').then((module) => ({ default: module.ReportPage })),
    ),
  },
  {
    path: '/editor',
    access: 'signed-in',
    Page: editorPage,
  },
  {
    path: '/editor/:videoId',
    access: 'signed-in',
    Page: editorPage,
  },
  {
    path: '/drafts',
    access: 'signed-in',
    Page: lazy(() =>
      import('./pages/drafts/drafts-page.tsx').then((module) => ({ default: module.DraftsPage })),
    ),
  },
  {
    path: '/nice2have',
    access: 'signed-in',
    Page: lazy(() =>
      import('./pages/nice2have/nice2have-page.tsx').then((module) => ({ default: module.Nice2HavePage })),
    ),
  },
  {
    path: '/subscribe',
    access: 'all',
    Page: lazy(() =>
      import('./pages/subscribe/to-pricing.tsx').then((module) => ({ default: module.ToPricing })),
    ),
  },
  {
    path: '/subscribe/:plan',
    access: 'signed-in',
    Page: lazy(() =>
      import('./pages/subscribe/subscribe-page.tsx').then((module) => ({ default: module.SubscribePage })),
    ),
  },
  {
    path: '/upgrade',
    access: 'all',
    Page: lazy(() =>
      import('./pages/upgrade/upgrade-page.tsx').then((module) => ({ default: module.UpgradePage })),
    ),
  },
  {
    path: '/video/:id',
    access: 'all',
    Page: lazy(() =>
      import('./pages/share/share-page.tsx').then((module) => ({ default: module.SharePage })),
    ),
  },
  {
    path: '/fonts',
    access: 'all',
    Page: lazy(() =>
      import('./pages/fonts/fonts-page.tsx').then((module) => ({ default: module.FontsPage })),
    ),
  },
  {
    path: '*',
    access: 'all',
    Page: lazy(() =>
      import('./pages/not-found/not-found-page.tsx').then((module) => ({ default: module.NotFoundPage })),
    ),
  },
];
