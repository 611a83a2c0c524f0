import { Component, type ReactNode } from 'react';
import { FailedPage } from './panels/processing/failed-page.tsx';

interface Props {
  /** Address of the page; at another address the boundary tries again. */
  readonly place: string;
  readonly children: ReactNode;
  readonly onReload?: () => void;
}
interface State {
  readonly failed: boolean;
  readonly place: string;
}

/** Catches a page that cannot be shown: a newer release replaced its code, or the server is away. */
export class PageBoundary extends Component<Props, State> {
  override state: State = { failed: false, place: this.props.place };

  static getDerivedStateFromError(): Partial<State> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ place }: Props, state: State): State | null {
    return place === state.place ? null : { failed: false, place };
  }

  override render(): ReactNode {
    const { children, onReload = () => window.location.reload() } = this.props;
    return this.state.failed ? <FailedPage onReload={onReload} /> : children;
  }
}
