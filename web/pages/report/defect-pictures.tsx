import { useState } from 'react';
import styled from 'styled-components';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths } from '#common/api/videos.ts';
import type { Defect } from '#common/report.ts';
import { formatTimecode } from '#common/format.ts';
import { toResultMs } from '#common/time-axis.ts';
import { waiting } from '../../components/skeleton.tsx';
import { reportTexts } from '../../texts/report.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, radius, screen, space, text } from '../../theme.ts';

const { pictures: texts } = reportTexts;
/** More pictures show nothing new, and each costs the server a decode. */
const MAX_DEFECTS = 12;

const List = styled.ul`
  display: grid;
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: 1fr 1fr;
  }
  /* Grid rows could be split across two printed pages and then overlap; block layout prevents that. */
  @media print {
    display: block;
  }
`;
const Pair = styled.li`
  display: grid;
  align-content: start;
  gap: ${space(1)};
  @media print {
    display: inline-grid;
    width: 50%;
    margin-bottom: ${space(2)};
    padding-right: ${space(2)};
    vertical-align: top;
  }
  h3 {
    display: flex;
    justify-content: space-between;
    gap: ${space(1)};
    font-size: ${text.m};
  }
  h3 span {
    ${figures}
    font-weight: 400;
    color: ${colour.inkFaint};
  }
  & > div {
    display: grid;
    grid-template-columns: 1fr 1fr;
    gap: ${space(1)};
  }
`;
const Figure = styled.figure`
  figcaption {
    font-size: ${text.xs};
    color: ${colour.inkFaint};
  }
`;
const Picture = styled.img<{ $ratio: number; $isRead: boolean }>`
  display: block;
  width: 100%;
  /* Limits upright pictures to the height that is the width of wide ones. */
  max-width: calc(400px * ${({ $ratio }) => $ratio});
  aspect-ratio: ${({ $ratio }) => $ratio};
  object-fit: contain;
  border-radius: ${radius.s};
  ${({ $isRead }) => ($isRead ? 'background: #05070f;' : waiting)}
  @media print {
    max-width: calc(200px * ${({ $ratio }) => $ratio});
  }
`;
const Missing = styled.span<{ $ratio: number }>`
  display: grid;
  place-items: center;
  aspect-ratio: ${({ $ratio }) => $ratio};
  padding: ${space(1)};
  border: 1px dashed ${colour.chalk};
  border-radius: ${radius.s};
  font-size: ${text.s};
  color: ${colour.inkFaint};
  text-align: center;
`;

interface FrameProps {
  readonly src: string;
  readonly label: string;
  readonly alt: string;
  readonly ratio: number;
}

function Frame({ src, label, alt, ratio }: FrameProps) {
  // A server that must decode them first needs a second or two for a long clip.
  const [state, setState] = useState<'reading' | 'read' | 'missing'>('reading');
  return (
    <Figure>
      {state === 'missing' ? (
        <Missing $ratio={ratio}>{texts.missing}</Missing>
      ) : (
        <Picture
          src={src}
          alt={alt}
          $ratio={ratio}
          $isRead={state === 'read'}
          loading="lazy"
          onLoad={() => setState('read')}
          onError={() => setState('missing')}
        />
      )}
      <figcaption>{label}</figcaption>
    </Figure>
  );
}

interface DefectPicturesProps {
  readonly videoId: string;
  readonly defects: readonly Defect[];
  readonly ratio: number;
}

/** The middle picture of each damaged stretch, from the original and from the result. */
export function DefectPictures({ videoId, defects, ratio }: DefectPicturesProps) {
  const shown = defects.filter(({ firstFrame, outcome }) => firstFrame !== null && outcome === 'repaired');
  if (shown.length === 0) return null;
  const frameUrl = (of: 'original' | 'result', originalMs: number): string => {
    const ms = of === 'original' ? originalMs : toResultMs(originalMs, defects);
    return `${buildPath(mediaPaths.frame, { id: videoId })}?of=${of}&ms=${Math.round(ms)}`;
  };
  return (
    <>
      <h2>{texts.title}</h2>
      <List>
        {shown.slice(0, MAX_DEFECTS).map((defect) => {
          const middleMs = (defect.startMs + defect.endMs) / 2;
          const name = videoTexts.defects[defect.kind];
          return (
            <Pair key={defect.id}>
              <h3>
                {name}
                <span>{formatTimecode(middleMs)}</span>
              </h3>
              <div>
                {(['original', 'result'] as const).map((of) => (
                  <Frame
                    key={of}
                    src={frameUrl(of, middleMs)}
                    label={texts[of]}
                    alt={texts.alt(name, texts[of])}
                    ratio={ratio}
                  />
                ))}
              </div>
            </Pair>
          );
        })}
      </List>
    </>
  );
}
