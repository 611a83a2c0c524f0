import { useState } from 'react';
import styled from 'styled-components';
import { HERO_EXTENSIONS } from '#common/limits.ts';
import { ByWidth } from '../../components/by-width.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { rejectionText } from '../../components/rejections.ts';
import { useShowToast } from '../../data/toasts.ts';
import { useLeftOut } from '../../data/uploads/upload-items.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { colour, text } from '../../theme.ts';
import { DropArea } from '../../components/drop-area.tsx';

const { multi: texts, hero } = landingTexts;

// Extensions are listed with their own types, because beside a wildcard the library omits the wildcard in the file
// browser.
const ACCEPT = {
  'video/*': [],
  'video/mp4': ['.mp4'],
  'video/quicktime': ['.mov'],
  'video/x-msvideo': ['.avi'],
};
const TYPES = ['video/*', ...HERO_EXTENSIONS].join(', ');

const Title = styled.h3`
  font-size: ${text.l};
`;
const Small = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Problem = styled.p`
  overflow-wrap: anywhere;
  font-size: ${text.s};
  font-weight: 600;
  color: ${colour.defect};
`;

interface MultiDropProps {
  readonly signedIn: boolean;
  readonly disabled?: boolean;
  readonly busy?: boolean;
  /** Videos left in the plan this month; null for no limit. */
  readonly room?: number | null;
  readonly onFiles: (files: File[]) => void;
}

/** Card for several files at once; their progress shows in the upload panel. */
export function MultiDrop({
  signedIn,
  disabled = false,
  busy = false,
  room = null,
  onFiles,
}: MultiDropProps) {
  const showToast = useShowToast();
  const [, tellLeftOut] = useLeftOut();
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <DropArea
      accept={ACCEPT}
      multiple
      disabled={disabled}
      label={texts.heading}
      onFiles={(files) => {
        const taken = room === null ? files : files.slice(0, room);
        const left = files.slice(taken.length).map(({ name }) => name);
        // Said before anything is sent, because the server would refuse only after everything has arrived.
        const reason = left.length > 0 ? texts.noRoom(room ?? 0, left) : null;
        setProblem(reason);
        // The upload panel covers this card, so it shows the reason too.
        tellLeftOut(reason);
        if (reason !== null) showToast({ title: texts.notTaken, description: reason, tone: 'destructive' });
        if (taken.length > 0) onFiles(taken);
      }}
      onRejected={(rejections) => {
        const reason = rejectionText(rejections, TYPES);
        setProblem(reason);
        showToast({ title: uploadTexts.rejected, description: reason, tone: 'destructive' });
      }}
    >
      {() => (
        <>
          <Title>{texts.heading}</Title>
          <Small>
            <ByWidth wide={texts.text} phone={texts.textPhone} />
          </Small>
          {signedIn ? (
            <Button look="secondary" icon="upload">
              {busy ? hero.uploading : texts.browse}
            </Button>
          ) : (
            <ButtonLink to="/auth" look="secondary" onClick={(event) => event.stopPropagation()}>
              {hero.signIn}
            </ButtonLink>
          )}
          <Small>{texts.limits}</Small>
          {problem && <Problem>{problem}</Problem>}
        </>
      )}
    </DropArea>
  );
}
