import { isActive, useUploads } from '../../data/upload-items.ts';
import { useStartUploads } from '../../data/uploads.ts';
import { useStats } from '../../data/stats.ts';
import { ConnectionLine } from '../../panels/connection-line.tsx';
import { DashboardLayout } from './dashboard-layout.tsx';
import { MultiDrop } from './multi-drop.tsx';
import { OpenUploads } from './open-uploads.tsx';
import { RecentDrafts } from './recent-drafts.tsx';
import { RecentVideos } from './recent-videos.tsx';

/** The dashboard with the account's own figures and lists. */
export function CreatorDashboard() {
  const { data: stats } = useStats();
  const startUploads = useStartUploads();
  const busy = useUploads().some((item) => item.origin === 'multi' && isActive(item));
  return (
    <DashboardLayout
      stats={stats}
      waiting={!stats}
      connection={<ConnectionLine />}
      openUploads={<OpenUploads />}
    >
      <RecentVideos />
      <RecentDrafts />
      <MultiDrop signedIn busy={busy} onFiles={(files) => startUploads(files, 'multi')} />
    </DashboardLayout>
  );
}
