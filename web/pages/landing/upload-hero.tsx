import { lazy, Suspense } from 'react';
import { useNavigate } from 'react-router-dom';
import { Button, ButtonLink } from '../../components/button.tsx';
import { useSession } from '../../data/account/session.ts';
import { useShowToast } from '../../data/toasts.ts';
import { useKeptFile } from '../../data/uploads/upload-items.ts';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { HeroDrop } from './hero-drop.tsx';
import { DropNote, HeroLayout } from './hero-layout.tsx';

const { hero: texts } = landingTexts;

const CreatorHero = lazy(() =>
  import('./creator-hero.tsx').then((module) => ({ default: module.CreatorHero })),
);

/**
 * The same layout while the creator's code loads. A dropped file is kept for it. No file browser opens: this is replaced
 * while somebody would still be choosing, and what they choose would reach nobody.
 */
function WaitingHero() {
  const [kept, keep] = useKeptFile();
  return (
    <HeroLayout
      known
      sampleReady={false}
      onSample={() => undefined}
      drop={
        <HeroDrop
          dropOnly
          onFile={keep}
          button={
            <Button size="l" disabled>
              {texts.browse}
            </Button>
          }
          note={
            <>
              <DropNote>{texts.limits}</DropNote>
              <DropNote role="status">{kept ? texts.taken(kept.name) : '\u00a0'}</DropNote>
            </>
          }
        />
      }
    />
  );
}

/** The hero of a visitor: a file dropped here is kept until they have signed in. */
function VisitorHero() {
  const navigate = useNavigate();
  const showToast = useShowToast();
  const [kept, keep] = useKeptFile();
  return (
    <HeroLayout
      onSample={() => void navigate('/auth')}
      drop={
        <HeroDrop
          onFile={(file) => {
            keep(file);
            showToast({
              title: uploadTexts.signInRequired,
              description: uploadTexts.signInRequiredDetail,
              tone: 'notice',
            });
          }}
          button={
            // A click on the drop area opens the file browser; this link only goes to the sign-in page.
            <ButtonLink to="/auth" size="l" onClick={(event) => event.stopPropagation()}>
              {texts.signIn}
            </ButtonLink>
          }
          note={kept && <DropNote role="status">{texts.kept(kept.name)}</DropNote>}
        />
      }
    />
  );
}

/** Drop area, sample button and, once there is a clip, its repair. */
export function UploadHero() {
  if (useSession().status !== 'signed-in') return <VisitorHero />;
  return (
    <Suspense fallback={<WaitingHero />}>
      <CreatorHero />
    </Suspense>
  );
}
