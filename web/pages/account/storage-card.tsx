import styled from 'styled-components';
import type { StorageUse } from '#common/api/account.ts';
import { formatBytes } from '#common/format.ts';
import { Button } from '../../components/button.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useStorageUse } from '../../data/account/account-settings.ts';
import { accountTexts } from '../../texts/account.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { SettingsCard, Words } from './settings-card.tsx';

const { storage: texts } = accountTexts;

type Kind = keyof typeof texts.kinds;
const KINDS: readonly { kind: Kind; tint: string; bytes: (use: StorageUse) => number }[] = [
  { kind: 'originals', tint: colour.thread, bytes: (use) => use.originalsBytes },
  { kind: 'versions', tint: colour.liveThread, bytes: (use) => use.versionsBytes },
  { kind: 'exports', tint: colour.info, bytes: (use) => use.exportsBytes },
  { kind: 'extras', tint: colour.violet, bytes: (use) => use.extrasBytes },
  { kind: 'uploads', tint: colour.chalk, bytes: (use) => use.uploadsBytes },
];
/** These three are always listed; the others only when they are not empty. */
const ALWAYS: ReadonlySet<Kind> = new Set<Kind>(['originals', 'versions', 'exports']);

const Total = styled.p`
  font-family: var(--font-display);
  font-size: ${text.xxl};
  font-weight: 650;
`;
const Strip = styled.svg`
  width: 100%;
  height: 16px;
  rect + rect {
    stroke: ${colour.raised};
    stroke-width: 1.5;
    stroke-dasharray: 6 4;
  }
`;
const List = styled.dl`
  display: grid;
  gap: ${space(0.75)};
  font-size: ${text.s};
  div {
    display: flex;
    align-items: center;
    gap: ${space(1)};
  }
  dt {
    flex: 1;
    min-width: 0;
    color: ${colour.inkSoft};
  }
  dd {
    ${figures}
  }
`;
const Swatch = styled.svg`
  flex: none;
`;

/** Shares of a total as start and width in percent, in the given order; all zero for an empty total. */
function stackShares(values: readonly number[]): readonly { start: number; width: number }[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  let before = 0;
  return values.map((value) => {
    const share = {
      start: total === 0 ? 0 : (before / total) * 100,
      width: total === 0 ? 0 : (value / total) * 100,
    };
    before += value;
    return share;
  });
}

function Use({ use }: { readonly use: StorageUse }) {
  const shown = KINDS.filter(({ kind, bytes }) => ALWAYS.has(kind) || bytes(use) > 0);
  const shares = stackShares(shown.map(({ bytes }) => bytes(use)));
  const words = shown.map(({ kind, bytes }) => `${texts.kinds[kind]} ${formatBytes(bytes(use))}`).join(', ');
  return (
    <>
      <Total>{texts.total(formatBytes(use.totalBytes))}</Total>
      <Strip role="img" aria-label={`${texts.strip}: ${words}`}>
        <rect width="100%" height="16" rx="4" fill={colour.hover} />
        {shown.map(({ kind, tint }, index) => (
          <rect
            key={kind}
            x={`${shares[index]?.start ?? 0}%`}
            width={`${shares[index]?.width ?? 0}%`}
            height="16"
            fill={tint}
          />
        ))}
      </Strip>
      <List>
        {shown.map(({ kind, tint, bytes }) => (
          <div key={kind}>
            <Swatch width="12" height="12" aria-hidden="true">
              <rect width="12" height="12" rx="3" fill={tint} />
            </Swatch>
            <dt>{texts.kinds[kind]}</dt>
            <dd>{formatBytes(bytes(use))}</dd>
          </div>
        ))}
      </List>
      <Words>{texts.note}</Words>
    </>
  );
}

/** Storage used by the account, by kind. */
export function StorageCard() {
  const { data, isError, isPending, refetch } = useStorageUse();
  return (
    <SettingsCard icon="cloud" title={texts.title}>
      {isPending && (
        <div role="status">
          <Words>{texts.loading}</Words>
          <Skeleton $height="120px" />
        </div>
      )}
      {isError && (
        <div role="status">
          <Words>{texts.failed}</Words>
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {accountTexts.retry}
          </Button>
        </div>
      )}
      {data && <Use use={data} />}
    </SettingsCard>
  );
}
