import styled from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, font, radius, space, text } from '../../theme.ts';
import { Dialog } from '../dialog.tsx';

const List = styled.dl`
  display: grid;
  grid-template-columns: auto 1fr;
  gap: ${space(1, 3)};
  align-items: center;
`;
const Key = styled.kbd`
  display: inline-block;
  min-width: 30px;
  margin-right: ${space(0.5)};
  padding: 2px ${space(1)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.s};
  font-family: ${font.mono};
  font-size: ${text.s};
  text-align: center;
`;

interface KeyHelpProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title?: string;
  readonly keys?: readonly { readonly keys: readonly string[]; readonly action: string }[];
}

/** The list of keyboard shortcuts, which work while the focus is in the player. */
export function KeyHelp({
  open,
  onOpenChange,
  title = playerTexts.help,
  keys = playerTexts.keys,
}: KeyHelpProps) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={title}>
      <List>
        {keys.map(({ keys: caps, action }) => (
          <div key={action} style={{ display: 'contents' }}>
            <dt>
              {caps.map((key) => (
                <Key key={key}>{key}</Key>
              ))}
            </dt>
            <dd>{action}</dd>
          </div>
        ))}
      </List>
    </Dialog>
  );
}
