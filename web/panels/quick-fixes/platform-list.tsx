import styled from 'styled-components';
import { checkPlatforms, PLATFORM_LIMITS_CHECKED, type PlatformVerdict } from '#common/platform-check.ts';
import type { MediaSummary } from '#common/report.ts';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { platformTexts as texts } from '../../texts/platforms.ts';
import { colour, space, text } from '../../theme.ts';

const Panel = styled(Card)<{ $roomy: boolean }>`
  display: grid;
  align-content: start;
  gap: ${space(1)};
  min-width: 0;
  padding: ${({ $roomy }) => space($roomy ? 3 : 2)};
  break-inside: avoid;
  h3 {
    font-size: ${text.l};
  }
  li {
    display: grid;
    gap: ${space(0.25)};
    padding: ${space(1, 0)};
    border-top: 1px solid ${colour.line};
    font-size: ${text.s};
  }
`;
const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(0.5, 1)};
`;
const Faint = styled.p`
  font-size: ${text.xs};
  color: ${colour.inkFaint};
`;

function Verdict({ verdict: { remarks, refused } }: { readonly verdict: PlatformVerdict }) {
  if (refused) return <Badge tone="defect">{texts.refused}</Badge>;
  return remarks.length > 0 ? <Badge tone="warn">{texts.look}</Badge> : <Badge tone="ok">{texts.fits}</Badge>;
}

/** A file to hold against the limits of platforms. */
export interface JudgedFile {
  /** What it holds; null if that was not kept. */
  readonly media: MediaSummary | null;
  readonly sizeBytes: number;
}

interface PlatformListProps {
  readonly file: JudgedFile;
  /** For cards of a page, which have wider margins than panels. */
  readonly roomy?: boolean;
}

/**
 * Whether TikTok, YouTube Shorts and Instagram Reels accept a file unchanged, and what they will do to it (N11).
 */
export function PlatformList({ file: { media, sizeBytes }, roomy = false }: PlatformListProps) {
  return (
    <Panel $roomy={roomy} aria-label={texts.title}>
      <h3>{texts.title}</h3>
      {media ? (
        <>
          <ul>
            {checkPlatforms(media, sizeBytes).map((verdict) => (
              <li key={verdict.platform}>
                <Head>
                  <strong>{texts.names[verdict.platform]}</strong>
                  <Verdict verdict={verdict} />
                </Head>
                {verdict.remarks.map((one) => (
                  <p key={one.kind}>{texts.remark(one)}</p>
                ))}
              </li>
            ))}
          </ul>
          <Faint>{texts.note(PLATFORM_LIMITS_CHECKED)}</Faint>
        </>
      ) : (
        <p>{texts.unjudged}</p>
      )}
    </Panel>
  );
}
