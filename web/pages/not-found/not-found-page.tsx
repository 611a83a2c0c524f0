import { NotFound } from '../../components/not-found.tsx';

/** Any address that is no screen. */
export function NotFoundPage() {
  return <NotFound />;
}
