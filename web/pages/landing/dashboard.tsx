import { lazy, Suspense } from 'react';
import { useSession } from '../../data/account/session.ts';
import { useShowToast } from '../../data/toasts.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { DashboardLayout } from './dashboard-layout.tsx';
import { MultiDrop } from './multi-drop.tsx';
import { RecentList } from './recent-list.tsx';

const { dashboard: texts } = landingTexts;

const CreatorDashboard = lazy(() =>
  import('./creator-dashboard.tsx').then((module) => ({ default: module.CreatorDashboard })),
);

/** The empty lists of a visitor, or of a creator whose own lists are loading. */
function EmptyLists({ signedIn }: { readonly signedIn: boolean }) {
  const showToast = useShowToast();
  return (
    <>
      <RecentList title={texts.recentVideos} empty={texts.noVideos} signedIn={signedIn} />
      <RecentList title={texts.recentDrafts} empty={texts.noDrafts} signedIn={signedIn} />
      <MultiDrop
        signedIn={signedIn}
        dropOnly={signedIn}
        room={signedIn ? undefined : null}
        onFiles={() =>
          showToast({
            title: uploadTexts.signInRequired,
            description: uploadTexts.signInRequiredDetail,
            tone: 'notice',
          })
        }
      />
    </>
  );
}

/** Figures, links, recent lists and the card for several files. */
export function Dashboard() {
  if (useSession().status !== 'signed-in')
    return (
      <DashboardLayout>
        <EmptyLists signedIn={false} />
      </DashboardLayout>
    );
  return (
    <Suspense
      fallback={
        <DashboardLayout waiting>
          <EmptyLists signedIn />
        </DashboardLayout>
      }
    >
      <CreatorDashboard />
    </Suspense>
  );
}
