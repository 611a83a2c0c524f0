import { isActive, useUploads } from '../../data/uploads/upload-items.ts';
import { useStartUploads } from '../../data/uploads/uploads.ts';
import { useStats } from '../../data/videos/stats.ts';
import { ConnectionLine } from '../../panels/connection-line.tsx';
import { DashboardLayout } from './dashboard-layout.tsx';
import { MultiDrop } from './multi-drop.tsx';
import { OpenUploads } from './open-uploads.tsx';
import { RecentDrafts } from './recent-drafts.tsx';
import { RecentVideos } from './recent-videos.tsx';

/** The dashboard with the account's own figures and lists. */
export function CreatorDashboard() {
  const { data: stats, isError } = useStats();
  const startUploads = useStartUploads();
  const active = useUploads().filter(isActive);
  const busy = active.some(({ origin }) => origin === 'multi');
  const { limit = null, used = 0 } = stats?.quota ?? {};
  const left = limit === null ? null : Math.max(0, limit - used - active.length);
  return (
    <DashboardLayout
      stats={stats}
      waiting={!stats}
      connection={<ConnectionLine />}
      openUploads={<OpenUploads />}
    >
      <RecentVideos />
      <RecentDrafts />
      <MultiDrop
        signedIn
        busy={busy}
        // Where it cannot be read, the server says what does not fit.
        room={stats || isError ? left : undefined}
        onFiles={(files) => startUploads(files, 'multi')}
      />
    </DashboardLayout>
  );
}
