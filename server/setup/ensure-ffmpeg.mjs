import { createRequire } from 'node:module';
import { ask, canInstallPackages, installPackages } from './commands.mjs';
import { say, stop } from './say.mjs';

const require = createRequire(import.meta.url);

/** Makes sure that ffmpeg and ffprobe can be found the way `server/media/ffmpeg/find-tools.ts` looks for them. */
export async function ensureFfmpeg() {
  if (await systemTools()) return;
  if (await canInstallPackages()) {
    say('Installing ffmpeg ...');
    if ((await installPackages(['ffmpeg'])) && (await systemTools())) return;
  }
  if (await packagedTools()) {
    say(
      'Using the ffmpeg of the npm package @ffmpeg-installer, an old build: some measurements are less exact. ' +
        'Installing a newer ffmpeg (5.1 or later) is better.',
    );
    return;
  }
  stop(
    'ffmpeg and ffprobe are missing and could not be installed from here. Install them and run the command again: ' +
      'Debian or Ubuntu "sudo apt-get install ffmpeg", Fedora "sudo dnf install ffmpeg", macOS "brew install ffmpeg"; ' +
      'or set FFMPEG_PATH and FFPROBE_PATH to where they are.',
  );
}

async function works(command) {
  return (await ask(command, ['-version'])) !== null;
}

async function systemTools() {
  return (
    (await works(process.env.FFMPEG_PATH ?? 'ffmpeg')) && (await works(process.env.FFPROBE_PATH ?? 'ffprobe'))
  );
}

async function packagedTools() {
  try {
    const ffmpeg = require('@ffmpeg-installer/ffmpeg').path;
    const ffprobe = require('@ffprobe-installer/ffprobe').path;
    return (await works(ffmpeg)) && (await works(ffprobe));
  } catch {
    return false;
  }
}
