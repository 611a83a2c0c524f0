import { Fragment } from 'react';
import styled from 'styled-components';
import { buildPath } from '#common/api/build-path.ts';
import {
  type ClipVersionDto,
  type PlatformExportDto,
  platformExportPath,
  type QuickFixesDto,
} from '#common/api/quick-fixes.ts';
import { formatBytes } from '#common/format.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icons.tsx';
import { Moment } from '../../components/moment.tsx';
import {
  areByHand,
  isHandRun,
  useQuickFixes,
  useRemoveExport,
  useRestoreVersion,
} from '../../data/videos/quick-fixes.ts';
import { quickFixTexts as texts } from '../../texts/quick-fixes.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { fileLinks } from '../panel-parts.tsx';
import { awaitedLines, useFollowed } from './awaited-lines.ts';

const Part = styled.section`
  display: grid;
  gap: ${space(0.5)};
  min-width: 0;
  margin-top: ${space(1)};
  h4 {
    font-size: ${text.m};
  }
  li {
    display: grid;
    /* Room for the button of each line, so that a line which gets one stays as it is. */
    grid-template-columns: minmax(0, 1fr) minmax(80px, auto);
    align-items: center;
    gap: ${space(0.5, 1)};
    min-height: 76px;
    padding: ${space(0.75, 0)};
    border-top: 1px dashed ${colour.chalk};
  }
`;
const Name = styled.div`
  display: grid;
  gap: ${space(0.25)};
  min-width: 0;
  strong {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: ${space(0.5)};
    font-weight: 600;
  }
  small {
    ${figures}
    font-size: ${text.s};
    color: ${colour.inkSoft};
    overflow-wrap: anywhere;
  }
`;
const Deeds = styled.div`
  display: flex;
  align-items: center;
  ${fileLinks}
`;

const NAMES = new Map<string, string>(Object.entries(texts.exportNames));

interface FixFilesProps {
  readonly videoId: string;
  readonly fixes: QuickFixesDto;
}

/**
 * Versions that can be made current again, and files made for platforms; nothing if there are neither. What is being made
 * has its line from the start and keeps it where nothing is made, so that nothing moves at the end.
 */
export function FixFiles({ videoId, fixes }: FixFilesProps) {
  const { versions, exports, run } = fixes;
  const awaited = awaitedLines(useFollowed(run) ? run : null);
  return (
    <>
      {exports.length + awaited.files.length > 0 && (
        <Part aria-label={texts.exports}>
          <h4>{texts.exports}</h4>
          <ul>
            {awaited.files.map(({ fix, words }) => (
              <AwaitedLine key={fix} name={NAMES.get(fix) ?? fix} words={words} />
            ))}
            {exports.map((one) => (
              <ExportLine key={one.id} videoId={videoId} file={one} />
            ))}
          </ul>
        </Part>
      )}
      {(versions.length > 1 || awaited.version !== null) && (
        <Part aria-label={texts.versions}>
          <h4>{texts.versions}</h4>
          <ul>
            {versions.map((version, place) => (
              <Fragment key={version.id}>
                <VersionLine videoId={videoId} version={version} busy={isAtWork(run)} />
                {place === 0 && awaited.version !== null && (
                  <AwaitedLine
                    name={isHandRun(run) ? texts.mendedAgain : texts.kinds.fixes}
                    words={awaited.version}
                  />
                )}
              </Fragment>
            ))}
          </ul>
        </Part>
      )}
    </>
  );
}

/** Made by quick fixes, or repaired and not the current version. */
const isKept = ({ kind, current }: ClipVersionDto): boolean =>
  kind === 'fixes' || (kind === 'repair' && !current);

const Alone = styled(Card)`
  display: grid;
  gap: ${space(2)};
  padding: ${space(2)};
`;

/**
 * The same for users whose plan has no quick fixes: what was made stays theirs, and after a return to the original they
 * can restore the repaired clip. A version that is awaited here has its line from the start. Nothing if there are none.
 */
export function KeptFixFiles({ videoId }: { readonly videoId: string }) {
  const { data } = useQuickFixes(videoId);
  const isAwaited = useFollowed(data?.run ?? null);
  if (!data || !(isAwaited || data.exports.length > 0 || data.versions.some(isKept))) return null;
  return (
    <Alone>
      <FixFiles videoId={videoId} fixes={data} />
    </Alone>
  );
}

function AwaitedLine({ name, words }: { readonly name: string; readonly words: string }) {
  return (
    <li>
      <Name>
        <strong>{name}</strong>
        <small>{words}</small>
      </Name>
    </li>
  );
}

interface VersionLineProps {
  readonly videoId: string;
  readonly version: ClipVersionDto;
  readonly busy: boolean;
}

function VersionLine({ videoId, version, busy }: VersionLineProps) {
  const restore = useRestoreVersion(videoId);
  const { kind, current, createdAt, sizeBytes, fixes } = version;
  const inIt = fixes.map(({ id }) => texts.label(id)).join(', ');
  const name = areByHand(fixes) ? texts.mendedAgain : texts.kinds[kind];
  return (
    <li>
      <Name>
        <strong>
          {name} {current && <Badge tone="ok">{texts.current}</Badge>}
        </strong>
        <small>
          {inIt !== '' && `${inIt} · `}
          {formatBytes(sizeBytes)} · <Moment iso={createdAt} />
        </small>
      </Name>
      {!current && (
        <Button
          look="secondary"
          size="s"
          disabled={busy || restore.isPending}
          aria-label={texts.restoreLabel(inIt === '' ? name : inIt)}
          onClick={() => restore.mutate(version.id)}
        >
          {texts.restore}
        </Button>
      )}
    </li>
  );
}

function ExportLine({ videoId, file }: { readonly videoId: string; readonly file: PlatformExportDto }) {
  const remove = useRemoveExport(videoId);
  const { id, fix, sizeBytes, createdAt, ofCurrent } = file;
  const name = NAMES.get(fix) ?? fix;
  const path = buildPath(platformExportPath, { id: videoId, exportId: id });
  const ask = (): void => {
    if (window.confirm(texts.confirmRemove(name))) remove.mutate(id);
  };
  return (
    <li>
      <Name>
        <strong>
          {name} {!ofCurrent && <Badge>{texts.older}</Badge>}
        </strong>
        <small>
          {formatBytes(sizeBytes)} · <Moment iso={createdAt} />
        </small>
      </Name>
      <Deeds>
        <a href={path} download aria-label={texts.downloadLabel(name)}>
          <Icon name="download" size={17} />
          {texts.download}
        </a>
        <IconButton
          icon="trash"
          tone="danger"
          label={texts.remove(name)}
          disabled={remove.isPending}
          onClick={ask}
        />
      </Deeds>
    </li>
  );
}
