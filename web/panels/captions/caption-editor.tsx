import { type KeyboardEvent, useCallback, useMemo, useState } from 'react';
import styled from 'styled-components';
import type { CaptionsPageDto } from '#common/api/captions.ts';
import type { VideoDto } from '#common/api/videos.ts';
import { toCaptionText } from '#common/caption-text.ts';
import { CAPTION_LIMITS, countWorded, findCueProblems } from '#common/captions.ts';
import { addCueAt, type Cues, toStored } from '../../data/captions/caption-edits.ts';
import type { CaptionAction } from '../../data/captions/caption-history.ts';
import { useCaptionTextDraft } from '../../data/captions/caption-text-draft.ts';
import { useCaptionEditor } from '../../data/captions/captions.ts';
import type { PlayClock } from '../../data/videos/play-clock.ts';
import { Button } from '../../components/button.tsx';
import { resultMark } from '../../data/videos/videos.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { Note } from '../panel-parts.tsx';
import { CaptionBurn } from './caption-burn.tsx';
import { CaptionHear } from './caption-hear.tsx';
import { CaptionKeys } from './caption-keys.tsx';
import { CaptionList } from './caption-list.tsx';
import { CaptionRaw } from './caption-raw.tsx';
import { CaptionSaveLine } from './caption-save-line.tsx';
import { CaptionTools } from './caption-tools.tsx';

/** The player beside the editor; times are ms of the clip being played. */
export interface CaptionPlayer {
  readonly seek: (ms: number) => void;
  readonly nowMs: () => number;
  readonly clock: PlayClock;
}

const Bar = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
`;
const Count = styled.p`
  ${figures}
  margin-left: auto;
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Said = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

interface CaptionEditorProps {
  readonly video: VideoDto;
  readonly page: CaptionsPageDto;
  readonly player: CaptionPlayer;
  /** Whether the plan includes captions drawn into the picture. */
  readonly isStyled: boolean;
}

/** Why the editor starts empty. */
function emptyReason({ speech, hasSound }: CaptionsPageDto): string {
  if (hasSound === false) return texts.noSound;
  return speech.length === 0 ? texts.noSpeech : texts.empty;
}

/** The list of cues with all actions on them; saves automatically. */
export function CaptionEditor({ video, page, player, isStyled: allowed }: CaptionEditorProps) {
  const { history, dispatch, save, keepMine, takeTheirs, again } = useCaptionEditor(video.id, page);
  const { cues, selected, past, future, said } = history;
  const stored = useMemo(() => toStored(cues), [cues]);
  const [notice, setNotice] = useState<string | null>(null);
  const [raw, setRaw] = useCaptionTextDraft(video.id);
  const problems = new Map(findCueProblems(stored).map(({ index, kind }) => [index, kind]));
  const worded = countWorded(stored);
  const [firstProblem] = problems.keys();
  // A repeated announcement is read out only if its text differs.
  const told = said.count % 2 === 0 ? said.text : `${said.text}\u{A0}`;

  const act = useCallback(
    (action: CaptionAction) => {
      setNotice(null);
      dispatch(action);
    },
    [dispatch],
  );
  const undo = (): void => act({ do: 'undo', say: texts.did.undo });
  const redo = (): void => act({ do: 'redo', say: texts.did.redo });
  const replaceAll = (next: Cues, words: string): void => {
    act({ do: 'edit', edit: () => ({ cues: next }) });
    setNotice(words);
  };
  const add = (): void => {
    const atMs = player.nowMs();
    act({
      do: 'edit',
      edit: (now) => {
        const added = now.length < CAPTION_LIMITS.cues ? addCueAt(now, atMs) : null;
        return added && { cues: added.cues, selected: added.index };
      },
      say: texts.did.add,
      sayNone: cues.length < CAPTION_LIMITS.cues ? texts.did.noRoom : texts.did.full,
    });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const undoes = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'z';
    const redoes = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'y';
    const step = event.altKey && (event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0);
    if (!undoes && !redoes && !step) return;
    event.preventDefault();
    if (step) {
      const index = Math.min(cues.length - 1, Math.max(0, selected + step));
      if (index >= 0) act({ do: 'select', index, focus: true });
    } else if (redoes || event.shiftKey) redo();
    else undo();
  };

  return (
    // Keys are only shortcuts: each has an equivalent button.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <Editor onKeyDown={onKeyDown}>
      {raw === null ? (
        <>
          <Bar>
            <Button look="secondary" size="s" icon="captions" onClick={add}>
              {texts.add}
            </Button>
            <Button look="quiet" size="s" disabled={past.length === 0} onClick={undo}>
              {texts.undo}
            </Button>
            <Button look="quiet" size="s" disabled={future.length === 0} onClick={redo}>
              {texts.redo}
            </Button>
            <Count>{texts.count(cues.length, worded)}</Count>
          </Bar>
          <CaptionTools
            video={video}
            page={page}
            act={act}
            onRaw={() => setRaw(toCaptionText(stored))}
            onReplace={replaceAll}
            hasCues={cues.length > 0}
          />
          {cues.length === 0 && <Note>{emptyReason(page)}</Note>}
          {cues.length > 0 && <CaptionList history={history} problems={problems} act={act} player={player} />}
        </>
      ) : (
        <CaptionRaw
          text={raw}
          cues={cues}
          onText={setRaw}
          onTake={(next) => {
            setRaw(null);
            replaceAll(next, texts.raw.taken(next.length));
          }}
          onDiscard={() => {
            setRaw(null);
            setNotice(texts.raw.discarded);
          }}
        />
      )}
      <Bar>
        <CaptionSaveLine
          save={save}
          firstProblem={firstProblem ?? null}
          onKeepMine={keepMine}
          onTakeTheirs={takeTheirs}
          onAgain={again}
        />
        <Said role="status">{notice ?? told}</Said>
      </Bar>
      {raw === null && (
        <>
          <CaptionHear videoId={video.id} onReplace={replaceAll} />
          <CaptionKeys />
        </>
      )}
      <CaptionBurn
        videoId={video.id}
        version={`${resultMark(video)} ${page.revision}`}
        allowed={allowed}
        notNow={worded === 0 ? texts.burn.noWords : save.kind === 'saved' ? null : texts.burn.unsaved}
      />
    </Editor>
  );
}

const Editor = styled.div`
  display: grid;
  gap: ${space(1.5)};
  min-width: 0;
`;
