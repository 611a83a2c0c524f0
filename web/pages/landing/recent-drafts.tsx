import { DASHBOARD_LIST_LENGTH } from '#common/limits.ts';
import { Moment } from '../../components/moment.tsx';
import { useDrafts } from '../../data/videos/drafts.ts';
import { landingTexts } from '../../texts/landing.ts';
import { RecentList, Row, RowFacts, RowName } from './recent-list.tsx';

const { dashboard: texts } = landingTexts;

/** The newest draft backups. */
export function RecentDrafts() {
  const query = useDrafts('dashboard');
  return (
    <RecentList
      title={texts.recentDrafts}
      empty={texts.noDrafts}
      signedIn
      query={query}
      rows={(query.data ?? []).slice(0, DASHBOARD_LIST_LENGTH).map((draft) => (
        <Row key={draft.id}>
          <div>
            <RowName dir="auto" title={draft.fileName}>
              {draft.fileName}
            </RowName>
            <RowFacts>
              {texts.modified} <Moment iso={draft.lastModified} />
            </RowFacts>
          </div>
        </Row>
      ))}
    />
  );
}
