import { Navigate } from 'react-router-dom';

/** `/subscribe` names no plan: the plans stand on the landing page (D-27). */
export function ToPricing() {
  return <Navigate to="/#pricing" replace />;
}
