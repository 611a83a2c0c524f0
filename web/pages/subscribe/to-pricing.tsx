import { Navigate } from 'react-router-dom';

/** `/subscribe` without a plan: the landing page has the plans (D-27). */
export function ToPricing() {
  return <Navigate to="/#pricing" replace />;
}
