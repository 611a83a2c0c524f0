import { Navigate } from 'react-router-dom';

/** `/subscribe` without a plan: the landing page has the plans. */
export function ToPricing() {
  return <Navigate to="/#pricing" replace />;
}
