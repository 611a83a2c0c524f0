import { useState } from 'react';
import styled from 'styled-components';
import { HERO_EXTENSIONS } from '#common/limits.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { rejectionText } from '../../components/rejections.ts';
import { useShowToast } from '../../data/toasts.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { colour, text } from '../../theme.ts';
import { DropArea } from '../../components/drop-area.tsx';

const { multi: texts, hero } = landingTexts;

// The endings stand with their own types: beside a wildcard the library leaves the wildcard out of the file browser.
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
  font-size: ${text.s};
  font-weight: 600;
  color: ${colour.defect};
`;

interface MultiDropProps {
  readonly signedIn: boolean;
  readonly disabled?: boolean;
  readonly busy?: boolean;
  readonly onFiles: (files: File[]) => void;
}

/** Card for several files at once; their progress shows in the upload panel. */
export function MultiDrop({ signedIn, disabled = false, busy = false, onFiles }: MultiDropProps) {
  const showToast = useShowToast();
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <DropArea
      accept={ACCEPT}
      multiple
      disabled={disabled}
      label={texts.heading}
      onFiles={(files) => {
        setProblem(null);
        onFiles(files);
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
          <Small>{texts.text}</Small>
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
