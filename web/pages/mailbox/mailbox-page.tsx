import styled from 'styled-components';
import { Button } from '../../components/button.tsx';
import { Moment } from '../../components/moment.tsx';
import { PageHeading, PageMain } from '../../components/page.tsx';
import { useOutbox } from '../../data/account/outbox.ts';
import { authTexts } from '../../texts/auth.ts';
import { colour, space, text } from '../../theme.ts';

const { mailboxPage: texts } = authTexts;

const Column = styled(PageMain)`
  display: grid;
  align-content: start;
  justify-items: start;
  gap: ${space(3)};
`;
const List = styled.ul`
  width: 100%;
  li {
    display: grid;
    gap: ${space(0.5)};
    padding: ${space(2, 0)};
    border-top: 1px solid ${colour.line};
  }
  p {
    font-size: ${text.s};
    color: ${colour.inkFaint};
  }
  a {
    overflow-wrap: anywhere;
  }
`;

/** The built-in mailbox of a server without a mail service. */
export function MailboxPage() {
  const { data: mails, isError, refetch } = useOutbox();
  return (
    <Column>
      <PageHeading title={texts.title}>{texts.title}</PageHeading>
      <p>{isError ? texts.unavailable : texts.lead}</p>
      <Button look="secondary" icon="retry" onClick={() => void refetch()}>
        {texts.refresh}
      </Button>
      {mails?.length === 0 && <p>{texts.empty}</p>}
      <List>
        {mails?.map(({ to, subject, at, links }) => (
          <li key={`${at}-${to}-${subject}`}>
            <strong>{subject}</strong>
            <p>
              {to}, <Moment iso={at} />
            </p>
            {links.map((link) => (
              <a key={link} href={link}>
                {link}
              </a>
            ))}
          </li>
        ))}
      </List>
    </Column>
  );
}
