import { lazy, Suspense, useState } from 'react';
import { Outlet, Route, Routes, useLocation } from 'react-router-dom';
import { Footer } from './components/footer.tsx';
import { Header } from './components/header/header.tsx';
import { FullScreenSpinner, PageSpinner } from './components/spinner.tsx';
import { Toaster } from './components/toaster.tsx';
import { usePersonChange } from './data/ideas/person-change.ts';
import { useOtherTabs } from './data/account/other-tabs.ts';
import { useSession } from './data/account/session.ts';
import { usePush } from './data/push/use-push.ts';
import { useUploads } from './data/uploads/upload-items.ts';
import { PageBoundary } from './page-boundary.tsx';
import { ROUTES, type RoutePage } from './routes.tsx';
import { appTexts } from './texts/app.ts';
import { useArrival } from './use-arrival.ts';
import { useStrayDrops } from './use-stray-drops.ts';

const AuthPage = lazy(() =>
  import('./pages/auth/auth-page.tsx').then(({ AuthPage: page }) => ({ default: page })),
);
const UploadPanel = lazy(() =>
  import('./panels/upload/upload-panel.tsx').then(({ UploadPanel: panel }) => ({ default: panel })),
);

/** Shows a page, or the auth page at the same address when the page needs a signed-in user. */
function Gate({ page }: { readonly page: RoutePage }) {
  const session = useSession();
  if (page.access === 'signed-in' && session.status !== 'signed-in') return <AuthPage stay />;
  const { Page } = page;
  return <Page />;
}

function Frame() {
  usePersonChange();
  useOtherTabs();
  usePush();
  useArrival();
  const [year] = useState(() => new Date().getFullYear());
  const { pathname } = useLocation();
  const hasUploads = useUploads().length > 0;
  return (
    <>
      <Header />
      <PageBoundary place={pathname}>
        <Suspense fallback={<PageSpinner />}>
          <Outlet />
        </Suspense>
      </PageBoundary>
      <Footer year={year} />
      {hasUploads && (
        <Suspense fallback={null}>
          <UploadPanel />
        </Suspense>
      )}
    </>
  );
}

export function App() {
  useStrayDrops();
  const session = useSession();
  if (session.status === 'loading') return <FullScreenSpinner />;
  if (session.status === 'unreachable') return <FullScreenSpinner text={appTexts.unreachable} />;
  return (
    <>
      <Routes>
        <Route element={<Frame />}>
          {ROUTES.map((page) => (
            <Route key={page.path} path={page.path} element={<Gate page={page} />} />
          ))}
        </Route>
      </Routes>
      <Toaster />
    </>
  );
}
