import { useNavigate } from 'react-router-dom';
import { useLogout } from '../../data/account/account.ts';
import { useShowToast } from '../../data/toasts.ts';
import { appTexts } from '../../texts/app.ts';

const { logout: texts } = appTexts;

/** Signs out with the specified toasts; `pending` until the server has answered. */
export function useSignOut(): { pending: boolean; signOut: () => Promise<void> } {
  const logout = useLogout();
  const showToast = useShowToast();
  const navigate = useNavigate();
  return {
    pending: logout.isPending,
    signOut: async () => {
      try {
        await logout.mutateAsync();
        showToast({ title: texts.success, description: texts.successDetail });
        await navigate('/');
      } catch {
        showToast({ title: texts.failed, description: texts.failedDetail, tone: 'destructive' });
      }
    },
  };
}
