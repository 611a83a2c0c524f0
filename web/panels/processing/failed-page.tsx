import { useEffect, useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { PageColumn, PageHeading } from '../../components/page.tsx';
import { absoluteUrl } from '../../data/url.ts';
import { isActive, useUploads } from '../../data/uploads/upload-items.ts';
import { appTexts as texts } from '../../texts/app.ts';

/** Interval at which an unreachable server is probed, ms. */
const PROBE_INTERVAL_MS = 3000;

interface FailedPageProps {
  readonly onReload: () => void;
}

/**
 * Replaces a page whose code did not load. While the server is away it waits and then opens the page by itself, unless
 * files are being sent, which a reload would interrupt.
 */
export function FailedPage({ onReload }: FailedPageProps) {
  const [away, setAway] = useState(false);
  const sending = useUploads().some(isActive);
  const wasAway = useRef(false);
  const latest = useRef({ sending, onReload });
  useEffect(() => {
    latest.current = { sending, onReload };
  });
  useEffect(() => {
    const probe = async (): Promise<void> => {
      const reached = await fetch(absoluteUrl('/healthz'), { cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      );
      setAway(!reached);
      // If the server was reachable all the time, the cause is another one, which repeated reloads do not fix.
      if (reached && wasAway.current && !latest.current.sending) latest.current.onReload();
      wasAway.current ||= !reached;
    };
    void probe();
    const timer = setInterval(() => void probe(), PROBE_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <PageColumn>
      <PageHeading title={texts.pageFailed}>{texts.pageFailed}</PageHeading>
      <p role="status">{away ? texts.pageAway : texts.pageReplaced}</p>
      <div>
        <Button icon="retry" disabled={away} onClick={onReload}>
          {texts.reload}
        </Button>
      </div>
    </PageColumn>
  );
}
