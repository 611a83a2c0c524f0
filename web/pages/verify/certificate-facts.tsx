import type { Certificate } from '#common/certificate.ts';
import { formatTimecode } from '#common/format.ts';
import { FactSheet } from '../../components/fact-sheet.tsx';
import { verifyTexts } from '../../texts/verify.ts';
import { outcomeWord } from '../../texts/outcomes.ts';
import { videoTexts } from '../../texts/videos.ts';

const { says: texts } = verifyTexts;
/** Enough to recognise the clip; the report lists them all. */
const MAX_CLAIMS = 20;

/** The signed statements of a certificate. */
export function CertificateFacts({ certificate }: { readonly certificate: Certificate }) {
  const { claims, tools } = certificate;
  const hidden = claims.length - MAX_CLAIMS;
  return (
    <FactSheet>
      <h2>{texts.title}</h2>
      <dl>
        <div>
          <dt>{texts.issued}</dt>
          <dd>
            <time dateTime={certificate.issuedAt}>{new Date(certificate.issuedAt).toLocaleString()}</time>
          </dd>
        </div>
        <Fact name={texts.issuer} code={certificate.issuer} />
        <Fact name={texts.tools} code={`reelmend ${tools.reelmend}, ffmpeg ${tools.ffmpeg}`} />
        <Fact name={texts.key} code={certificate.key.publicKey} />
        <Fact name={texts.original} code={certificate.original.sha256} />
        <Fact name={texts.result} code={certificate.result.sha256} />
        <div>
          <dt>{texts.claims}</dt>
          {claims.length === 0 && <dd>{texts.noClaims}</dd>}
          {claims.slice(0, MAX_CLAIMS).map((claim) => (
            <dd key={claim.id}>
              {videoTexts.defects[claim.kind]}, <code>{formatTimecode(claim.startMs)}</code>
              {': '}
              {outcomeWord(claim.outcome, claim.action)}
            </dd>
          ))}
          {hidden > 0 && <dd>{texts.more(hidden)}</dd>}
        </div>
      </dl>
    </FactSheet>
  );
}

function Fact({ name, code }: { readonly name: string; readonly code: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{code}</code>
      </dd>
    </div>
  );
}
