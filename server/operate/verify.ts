import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { repairReport } from '#common/report.ts';
import { findTools } from '#server/media/ffmpeg/find-tools.ts';
import { knownLimit } from '#server/media/ffmpeg/known-flaws.ts';
import { readPublicKey, verifyCertificate } from '#server/pipeline/publish/verify-certificate.ts';
import { verifyClaims, type Claim } from '#server/pipeline/publish/verify-claims.ts';

const USAGE = `npm run verify -- <original> <repaired> <report.json> [--certificate <certificate.json>] [--key <key>]
npm run verify -- <original> <repaired> --certificate <certificate.json> [--key <key>]

The report's claims are measured again with ffmpeg; the certificate's signature and hashes need no tools.
--key is the public key of the server one trusts: a file with the answer of its /api/certificate-key, a PEM
file, or 64 hexadecimal digits.`;

/** A wrong call of the command; the message is for the person who made it. */
class CallProblem extends Error {}

/**
 * Checks a repair report, a certificate or both against the two files and prints one line per claim.
 * @returns exit code: 0 all confirmed, 1 something is not, 2 the command was called wrongly
 */
async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  for (const file of [call.originalPath, call.repairedPath]) await mustBeFile(file);
  const reportJson = call.reportPath === null ? null : await readJson(call.reportPath);
  const claims: Claim[] = [];
  if (call.certificatePath !== null) {
    const trustedKey = call.key === null ? null : await readKey(call.key);
    if (trustedKey === null)
      console.log('Note: without --key it is not checked whose signature it is, only that it fits.');
    const text = await readText(call.certificatePath);
    const { originalPath, repairedPath } = call;
    claims.push(
      ...(await verifyCertificate({ text, originalPath, repairedPath, report: reportJson, trustedKey })),
    );
  }
  if (call.reportPath !== null) claims.push(...(await claimsOfReport(call, reportJson)));
  for (const { claim, confirmed, detail } of claims) {
    console.log(`${confirmed ? 'confirmed    ' : 'NOT CONFIRMED'}  ${claim}. ${detail}`);
  }
  const failed = claims.filter(({ confirmed }) => !confirmed).length;
  console.log(`\n${claims.length - failed} of ${claims.length} claims confirmed.`);
  return failed === 0 ? 0 : 1;
}

interface Call {
  readonly originalPath: string;
  readonly repairedPath: string;
  readonly reportPath: string | null;
  readonly certificatePath: string | null;
  readonly key: string | null;
}

function readCall(args: readonly string[]): Call {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { certificate: { type: 'string' }, key: { type: 'string' } },
  });
  const [originalPath, repairedPath, reportPath] = positionals.map((arg) => path.resolve(arg));
  const { certificate, key } = values;
  const proof = reportPath !== undefined || certificate !== undefined;
  if (!originalPath || !repairedPath || !proof || positionals.length > 3) throw new CallProblem(USAGE);
  return {
    originalPath,
    repairedPath,
    reportPath: reportPath ?? null,
    certificatePath: certificate === undefined ? null : path.resolve(certificate),
    key: key ?? null,
  };
}

async function claimsOfReport(call: Call, json: unknown): Promise<Claim[]> {
  const found = await findTools({
    ffmpegPath: process.env.FFMPEG_PATH ?? null,
    ffprobePath: process.env.FFPROBE_PATH ?? null,
    searchPath: process.env.PATH ?? '',
  });
  if (!found) {
    throw new CallProblem(
      'ffmpeg and ffprobe were not found. Install them, or set FFMPEG_PATH and FFPROBE_PATH.',
    );
  }
  const parsed = repairReport.safeParse(json);
  if (!parsed.success)
    throw new CallProblem(`${call.reportPath} is not a repair report: ${parsed.error.message}`);
  const report = parsed.data;
  if (report.tools.ffmpeg !== found.version) {
    console.log(`Note: the report was made with ffmpeg ${report.tools.ffmpeg}, this is ${found.version}.`);
  }
  const limit = knownLimit(found.version);
  if (limit) console.log(`Note: ${limit}`);
  const { originalPath, repairedPath } = call;
  return verifyClaims({ originalPath, repairedPath, report, tools: found.paths });
}

async function mustBeFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) throw new CallProblem(`${file} is not there, or is no file.`);
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new CallProblem(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  });
}

async function readJson(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return JSON.parse(text);
  } catch {
    throw new CallProblem(`${file} is not JSON.`);
  }
}

/** Accepts the key itself, or a file that contains it. */
async function readKey(given: string): Promise<string> {
  const key = readPublicKey(given) ?? readPublicKey(await readText(path.resolve(given)));
  if (key === null) throw new CallProblem(`--key ${given} is not an Ed25519 public key.`);
  return key;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isCall =
    error instanceof CallProblem ||
    (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));
  if (!isCall) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
