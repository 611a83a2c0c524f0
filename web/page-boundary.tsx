import { Component, type ReactNode } from 'react';
import { Button } from './components/button.tsx';
import { PageMain } from './components/page.tsx';
import { appTexts } from './texts/app.ts';

interface State {
  readonly failed: boolean;
}

/** Catches a page that cannot be shown, e.g. because its code was replaced by a newer release. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { failed: false };

  static getDerivedStateFromError(): State {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <PageMain>
        <h1>{appTexts.pageFailed}</h1>
        <p>
          <Button icon="retry" onClick={() => window.location.reload()}>
            {appTexts.reload}
          </Button>
        </p>
      </PageMain>
    );
  }
}
