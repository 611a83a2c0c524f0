import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { NavLink } from 'react-router-dom';
import styled from 'styled-components';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import { countFixes } from '#common/video.ts';
import { formatBytes } from '#common/format.ts';
import { Icon } from '../../components/icons.tsx';
import { formatMark } from '../../components/time-text.ts';
import { editorTexts as texts } from '../../texts/editor.ts';
import { landingTexts } from '../../texts/landing.ts';
import { colour, figures, ofAnyScript, radius, screen, space, text } from '../../theme.ts';

const Box = styled.nav`
  display: grid;
  align-content: start;
  gap: ${space(1.5)};
  min-width: 0;
  h2 {
    font-size: ${text.l};
  }
`;
const List = styled.ul`
  display: flex;
  gap: ${space(1)};
  overflow-x: auto;
  ${screen.desktop} {
    display: grid;
    max-height: 72vh;
    overflow: auto;
  }
`;
const Choice = styled(NavLink)`
  display: grid;
  grid-template-columns: 72px minmax(0, 1fr);
  gap: ${space(1.5)};
  align-items: center;
  min-width: 240px;
  padding: ${space(1)};
  border: 1px solid transparent;
  border-radius: ${radius.s};
  text-decoration: none;
  &:hover {
    background: ${colour.hover};
  }
  &[aria-current='page'] {
    border: 1px dashed ${colour.liveThread};
    background: ${colour.raised};
  }
`;
const Poster = styled.span`
  display: grid;
  place-items: center;
  height: 48px;
  border-radius: ${radius.s};
  overflow: hidden;
  background: ${colour.sunken};
  color: ${colour.inkFaint};
  img {
    width: 100%;
    height: 100%;
    object-fit: cover;
  }
`;
const Name = styled.strong`
  ${ofAnyScript}
  display: block;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
`;
const Facts = styled.span`
  ${figures}
  display: block;
  overflow: hidden;
  text-overflow: ellipsis;
  white-space: nowrap;
  font-size: ${text.xs};
  color: ${colour.inkFaint};
`;

interface VideoChooserProps {
  readonly videos: readonly VideoDto[];
  /** Id of the chosen video, which the list scrolls to. */
  readonly current?: string | undefined;
  /** Below the list: the button for older videos. */
  readonly more?: ReactNode;
}

/** The list of completed videos to choose from. */
export function VideoChooser({ videos, current, more }: VideoChooserProps) {
  const list = useRef<HTMLUListElement>(null);
  const isListed = videos.some(({ id }) => id === current);
  useLayoutEffect(() => {
    const box = list.current;
    const chosen = box?.querySelector('[aria-current]')?.parentElement;
    // Only the list scrolls; the page stays where it is.
    if (box && isListed && chosen)
      box.scrollTo?.({ left: chosen.offsetLeft - box.offsetLeft, top: chosen.offsetTop - box.offsetTop });
  }, [current, isListed]);
  return (
    <Box aria-label={texts.choose}>
      <h2>{texts.choose}</h2>
      <List ref={list}>
        {videos.map((video) => (
          <li key={video.id}>
            <Choice to={`/editor/${video.id}`}>
              <Poster>
                {video.hasPoster ? (
                  <img src={buildPath(mediaPaths.poster, { id: video.id })} alt="" loading="lazy" />
                ) : (
                  <Icon name="film" />
                )}
              </Poster>
              <span style={{ minWidth: 0 }}>
                <Name dir="auto" title={video.originalFileName}>
                  {video.originalFileName}
                </Name>
                <Facts>
                  {video.durationMs !== null && `${formatMark(video.durationMs)} · `}
                  {landingTexts.dashboard.fixes(countFixes(video.fixesApplied))} ·{' '}
                  {formatBytes(video.fileSize)}
                </Facts>
              </span>
            </Choice>
          </li>
        ))}
      </List>
      {more}
    </Box>
  );
}
