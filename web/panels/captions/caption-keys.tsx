import styled from 'styled-components';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, space, text } from '../../theme.ts';

const Keys = styled.details`
  font-size: ${text.s};
  color: ${colour.inkSoft};
  summary {
    width: fit-content;
    padding: ${space(0.75)} 0;
    cursor: pointer;
    font-weight: 600;
  }
  dl {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: ${space(0.5, 1.5)};
    margin: 0;
  }
  dd {
    margin: 0;
  }
`;

/** The keys that work while the focus is in the editor. */
export function CaptionKeys() {
  return (
    <Keys>
      <summary>{texts.keysTitle}</summary>
      <dl>
        {texts.keys.map(({ keys, action }) => (
          <Row key={action} keys={keys} action={action} />
        ))}
      </dl>
    </Keys>
  );
}

function Row({ keys, action }: { readonly keys: readonly string[]; readonly action: string }) {
  return (
    <>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key} </kbd>
        ))}
      </dt>
      <dd>{action}</dd>
    </>
  );
}
