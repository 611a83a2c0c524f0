import { escapeHtml } from '#server/http/escape-html.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly lines: readonly string[];
  readonly button?: { readonly label: string; readonly link: string };
  readonly end: string;
}

/** The mail with the link that verifies an address. */
export function verificationMail(to: string, username: string, link: string): Mail {
  return compose({
    to,
    subject: 'Verify your email address for Reelmend',
    lines: [
      `Hello ${username},`,
      'please verify your email address. Then your first clip can be mended.',
      'The link works for 24 hours.',
    ],
    button: { label: 'Verify email address', link },
    end: 'If you did not sign up, ignore this email: without this step the account stays unused.',
  });
}

/** The mail with the link for a new password. */
export function resetMail(to: string, username: string, link: string): Mail {
  return compose({
    to,
    subject: 'A new password for Reelmend',
    lines: [
      `Hello ${username},`,
      'this link lets you choose a new password. It works once, within one hour.',
    ],
    button: { label: 'Choose a new password', link },
    end: 'If you did not ask for this, ignore this email: your password stays as it is.',
  });
}

/** Informs the owner that the password was changed. */
export function passwordChangedMail(to: string, username: string): Mail {
  return compose({
    to,
    subject: 'Your Reelmend password was changed',
    lines: [`Hello ${username},`, 'your password was changed and you were signed out everywhere else.'],
    end: 'If that was not you, ask for a new password on the sign-in page at once.',
  });
}

function compose({ to, subject, lines, button, end }: Letter): Mail {
  const text = [...lines, ...(button ? [button.link] : []), end].join('\n\n') + '\n';
  const paragraphs = lines.map((line) => `<p style="margin:0 0 16px">${escapeHtml(line)}</p>`).join('\n');
  const link = button
    ? `<p style="margin:24px 0"><a href="${escapeHtml(button.link)}" style="background:#0b6e5f;color:#ffffff;padding:12px 20px;border-radius:8px;text-decoration:none">${escapeHtml(button.label)}</a></p>
<p style="margin:0 0 16px;color:#555555;font-size:13px;word-break:break-all">${escapeHtml(button.link)}</p>`
    : '';
  const html = `<!doctype html>
<html lang="en"><body style="margin:0;padding:32px;font-family:sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a">
${paragraphs}
${link}
<p style="margin:24px 0 0;color:#555555;font-size:13px">${escapeHtml(end)}</p>
</body></html>
`;
  return { to, subject, text, html };
}
