import { accountExportPath } from '#common/api/account.ts';
import { ButtonLink } from '../../components/button.tsx';
import { accountTexts } from '../../texts/account.ts';
import { SettingsCard, Ways, Words } from './settings-card.tsx';

const { data: texts } = accountTexts;

/** Everything in the account as one archive: a plain link, so that the browser downloads it. */
export function DataCard() {
  return (
    <SettingsCard icon="download" title={texts.title}>
      <Words>{texts.text}</Words>
      <Ways>
        <ButtonLink to={accountExportPath} reloadDocument download look="secondary" icon="download">
          {texts.download}
        </ButtonLink>
      </Ways>
    </SettingsCard>
  );
}
