import styled from 'styled-components';
import { useBrowserNotice } from '../../data/account/browser-notifications.ts';
import { useShowToast } from '../../data/toasts.ts';
import { accountTexts } from '../../texts/account.ts';
import { colour, radius, space, text } from '../../theme.ts';
import { SettingsCard, Words } from './settings-card.tsx';

const { notice: texts } = accountTexts;

const Switch = styled.label`
  display: flex;
  align-items: center;
  gap: ${space(1.5)};
  min-height: 44px;
  font-weight: 600;
  input {
    appearance: none;
    position: relative;
    flex: none;
    width: 48px;
    height: 28px;
    margin: 0;
    border: 2px dashed ${colour.lineStrong};
    border-radius: ${radius.m};
    background: ${colour.hover};
    cursor: pointer;
  }
  input::before {
    content: '';
    position: absolute;
    top: 3px;
    left: 3px;
    width: 18px;
    height: 18px;
    border-radius: 50%;
    background: ${colour.inkFaint};
    transition: transform 0.15s var(--ease);
  }
  input:checked {
    border-color: ${colour.liveThread};
    background: ${colour.liveSoft};
  }
  input:checked::before {
    transform: translateX(20px);
    background: ${colour.liveThread};
  }
  input:disabled {
    opacity: 0.5;
    cursor: not-allowed;
  }
  small {
    color: ${colour.inkSoft};
    font-size: ${text.s};
    font-weight: 400;
  }
`;

/** The switch of browser notices; switching on asks the browser for permission. */
export function NoticeCard() {
  const { state, asking, choose } = useBrowserNotice();
  const showToast = useShowToast();
  const fixed = state === 'unsupported' || state === 'blocked';
  const toggle = async (on: boolean): Promise<void> => {
    const next = await choose(on);
    if (on && next !== 'on')
      showToast({
        title: texts.notGranted,
        ...(next === 'off' ? {} : { description: texts.states[next] }),
      });
  };
  return (
    <SettingsCard icon="bell" title={texts.title}>
      <Words>{texts.text}</Words>
      <Switch>
        <input
          type="checkbox"
          data-drawn=""
          checked={state === 'on'}
          disabled={fixed || asking}
          onChange={(event) => void toggle(event.target.checked)}
        />
        {texts.toggle}
        {!fixed && <small aria-hidden="true">{texts.states[state]}</small>}
      </Switch>
      <div role="status">
        {asking && <Words>{texts.asking}</Words>}
        {fixed && <Words>{texts.states[state]}</Words>}
      </div>
    </SettingsCard>
  );
}
