import { NotFound } from '../../components/not-found.tsx';

/** The page for any unknown address. */
export function NotFoundPage() {
  return <NotFound />;
}
