import styled from 'styled-components';
import { type DraftDto, draftDownloadPath } from '#common/api/drafts.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { formatBytes } from '#common/format.ts';
import { SHORT_ID_LENGTH } from '#common/limits.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { Moment } from '../../components/moment.tsx';
import { useRestoreDraft } from '../../data/videos/drafts.ts';
import { draftTexts as texts } from '../../texts/drafts.ts';
import { failureOf } from '../../texts/failures.ts';
import { clampLines, colour, figures, ofAnyScript, radius, screen, space, text } from '../../theme.ts';

const SHOWN_HASH_CHARS = 12;

const Row = styled.li`
  display: grid;
  gap: ${space(2)};
  padding: ${space(2.5)};
  border: 1px solid ${colour.line};
  border-radius: ${radius.m};
  background: ${colour.raised};
  ${screen.tablet} {
    grid-template-columns: 1fr auto;
    align-items: start;
  }
`;
const Title = styled.h2`
  ${ofAnyScript}
  ${clampLines(3)}
  font-size: ${text.l};
  overflow-wrap: anywhere;
`;
const Id = styled.span`
  ${figures}
  color: ${colour.inkFaint};
  font-size: ${text.s};
`;
const Chips = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  margin-top: ${space(0.75)};
`;
const Facts = styled.dl`
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(130px, 1fr));
  gap: ${space(1, 3)};
  margin-top: ${space(2)};
  dt {
    color: ${colour.inkFaint};
    font-size: ${text.xs};
  }
  dd {
    font-size: ${text.s};
  }
  code {
    ${figures}
  }
  /* Nobody compares hashes on a phone; the report and the archive of all data have them too. */
  ${screen.belowTablet} {
    /* A date with its time takes more than half of the width. */
    grid-template-columns: 2fr 3fr;
    gap: ${space(1, 1.5)};
    [data-checksum] {
      display: none;
    }
  }
`;
const Actions = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
`;
const Save = styled.a`
  display: inline-flex;
  align-items: center;
  gap: ${space(1)};
  min-height: 44px;
  padding: ${space(0, 1.5)};
  font-size: ${text.s};
  font-weight: 600;
  text-decoration: none;
  border-radius: ${radius.s};
  color: ${colour.inkSoft};
  &:hover {
    background: ${colour.hover};
    color: ${colour.ink};
  }
`;
const Warning = styled.p<{ $tone: 'warn' | 'defect' }>`
  margin-top: ${space(1.5)};
  color: ${({ $tone }) => ($tone === 'warn' ? colour.warn : colour.defect)};
  font-size: ${text.s};
`;

/** One backup: what it is, how long it is kept, and the two ways to get it back. */
export function DraftRow({ draft }: { readonly draft: DraftDto }) {
  const restore = useRestoreDraft();
  const isDamaged = draft.integrity === 'damaged';
  const isFailed = draft.videoStatus === 'failed';
  return (
    <Row>
      <div>
        <Title dir="auto" title={draft.fileName}>
          {draft.fileName}
        </Title>
        <Chips>
          <Id>#{draft.id.slice(0, SHORT_ID_LENGTH)}</Id>
          <Badge icon="cloud">{texts.type}</Badge>
          {isDamaged && (
            <Badge tone="defect" icon="alert">
              {texts.damagedShort}
            </Badge>
          )}
        </Chips>
        <Facts>
          <div>
            <dt>{texts.backupDate}</dt>
            <dd>
              <Moment iso={draft.lastModified} detail="date" />
            </dd>
          </div>
          <div>
            <dt>{texts.autoSaved}</dt>
            <dd>
              <Moment iso={draft.lastModified} />
            </dd>
          </div>
          {draft.expiresAt !== null && (
            <div>
              <dt>{texts.expires}</dt>
              <dd>
                <Moment iso={draft.expiresAt} detail="date" />
              </dd>
            </div>
          )}
          {draft.sizeBytes !== null && (
            <div>
              <dt>{texts.size}</dt>
              <dd>{formatBytes(draft.sizeBytes)}</dd>
            </div>
          )}
          {draft.sha256 !== '' && (
            <div data-checksum="">
              <dt>{texts.checksum}</dt>
              <dd>
                <code title={draft.sha256}>{draft.sha256.slice(0, SHOWN_HASH_CHARS)}…</code>
              </dd>
            </div>
          )}
        </Facts>
        {!draft.videoExists && <Warning $tone="warn">{texts.deletedVideo}</Warning>}
        {isFailed && <Warning $tone="warn">{texts.failedVideo}</Warning>}
        {draft.errorMessage !== null && (
          <Warning $tone="warn">{texts.whyFailed(failureOf(draft).what)}</Warning>
        )}
        {isDamaged && (
          <Warning $tone="defect">{draft.videoExists ? texts.damaged : texts.damagedDeleted}</Warning>
        )}
      </div>
      <Actions>
        <Button
          look="secondary"
          icon="retry"
          disabled={restore.isPending || isFailed || (isDamaged && draft.videoExists)}
          onClick={() => restore.mutate(draft)}
        >
          {restore.isPending ? texts.restoring : texts.restore}
        </Button>
        <Save
          href={buildPath(draftDownloadPath, { id: draft.id })}
          download={draft.fileName}
          aria-label={texts.downloadOf(draft.fileName)}
        >
          <Icon name="download" />
          {texts.download}
        </Save>
      </Actions>
    </Row>
  );
}
