/** Size and length of the sample; small, so that its repair takes little time. */
export const SAMPLE = { width: 540, height: 960, fps: 30, sceneSeconds: 3.2, bounceSeconds: 0.8 } as const;

interface Scene {
  readonly top: string;
  readonly horizon: string;
  readonly sun: string;
  readonly far: string;
  readonly middle: string;
  readonly near: string;
  /** Position of the sun in the picture, pixels. */
  readonly sunX: number;
  readonly sunY: number;
  /** 1: the camera pans right; -1: left. */
  readonly direction: 1 | -1;
}

/** Dusk, dawn and night. The pictures stutter at the cuts between them. */
export const SCENES: readonly Scene[] = [
  {
    top: '1b2160',
    horizon: 'f2a65a',
    sun: 'ffe3ae',
    far: '8a5a8c',
    middle: '4b3c7d',
    near: '1d1f55',
    sunX: 330,
    sunY: 430,
    direction: 1,
  },
  {
    top: '27487f',
    horizon: 'f7b7a3',
    sun: 'fff2d9',
    far: '7c8fb5',
    middle: '42679a',
    near: '173a63',
    sunX: 170,
    sunY: 360,
    direction: -1,
  },
  {
    top: '0c0f2e',
    horizon: '7a3f74',
    sun: 'f5ab35',
    far: '3f356e',
    middle: '2a2757',
    near: '11123a',
    sunX: 300,
    sunY: 500,
    direction: 1,
  },
];

/** Three rows of hills: the height of their edge along Y (see `hill`), and their speed in pixels a second. */
const HILLS = [
  { name: 'far', speed: 70, edge: '590+46*sin(Y/150)+24*sin(Y/57+1)+9*sin(Y/23+2)' },
  {
    name: 'middle',
    speed: 150,
    edge: '690+52*sin(Y/190+2)+18*sin(Y/61)-34*pow(abs(sin(Y/13+2*sin(Y/83))),4)*clip(2*sin(Y/47+1)+0.6,0,1)',
  },
  {
    name: 'near',
    speed: 270,
    edge: '812+34*sin(Y/230+4)+10*sin(Y/71)-16*pow(abs(sin(Y/5.3+sin(Y/31))),2)',
  },
] as const;

const HILLS_WIDTH = 1500;
// Each still is drawn once per scene, because drawing it for every picture would take minutes. Scenes do not share one
// still: ffmpeg would paint the later scenes while it waits for the first, which takes more than twice the memory
// (`/usr/bin/time -v`).
const STILL = 'trim=end_frame=1';
const FOR_EVER = `loop=-1:1,setpts=N/${SAMPLE.fps}/TB`;

/**
 * Filter graph of the intact picture: hills in three depths pan under a low sun, and a lantern hops along them,
 * touching the ground every 0.8 s. Ends in the label `picture`.
 */
export function samplePicture(): string {
  const { width, height, fps, sceneSeconds, bounceSeconds } = SAMPLE;
  const parts: string[] = [];
  SCENES.forEach((scene, index) => {
    parts.push(`${sky(scene)}[sky${index}]`, `${lantern()}[lantern${index}]`);
    let below = `sky${index}`;
    for (const { name, speed, edge } of HILLS) {
      const x = scene.direction > 0 ? `40+${speed}*t` : `930-${speed}*t`;
      parts.push(
        `${hill(edge)},trim=duration=${sceneSeconds},crop=${width}:${height}:x='${x}':y='20+10*sin(t*1.1)'[${name}Edge${index}]`,
        `color=0x${scene[name]}:s=${width}x${height}:r=${fps}:d=${sceneSeconds},format=yuva420p[${name}Fill${index}]`,
        `[${name}Fill${index}][${name}Edge${index}]alphamerge[${name}Hill${index}]`,
        `[${below}][${name}Hill${index}]overlay=shortest=1[${name}Over${index}]`,
      );
      below = `${name}Over${index}`;
    }
    const hop = `1-pow(2*mod(t,${bounceSeconds})/${bounceSeconds}-1,2)`;
    parts.push(
      `[${below}][lantern${index}]overlay=x='${width / 2 - 75}+70*sin(t*0.9+${index})':y='700-380*(${hop})':shortest=1,trim=duration=${sceneSeconds},setpts=PTS-STARTPTS,format=yuv420p[scene${index}]`,
    );
  });
  parts.push(`${SCENES.map((_, i) => `[scene${i}]`).join('')}concat=n=${SCENES.length}[picture]`);
  return parts.join(';');
}

/**
 * The outline of a row of hills. It is drawn lying down, so that all pixels of a line share one edge, which is worked
 * out once: all pictures take 3.8 s of processor time and not 14.7 s, and are the same to the byte (framemd5).
 */
function hill(edge: string): string {
  const outline = `if(eq(X,0),st(0,${edge}));clip((X-ld(0)-20)*90+128,0,255)`;
  return `color=black:s=1000x${HILLS_WIDTH}:r=${SAMPLE.fps},format=gray,geq=lum='${outline}',${STILL},transpose=cclock_flip,${FOR_EVER}`;
}

/** A glow that fades towards all sides. */
function lantern(): string {
  const fall = (spread: number) => `exp(-((X-75)^2+(Y-75)^2)/${spread})`;
  return `color=black:s=150x150:r=${SAMPLE.fps},format=rgba,geq=r=255:g='lerp(178,250,${fall(500)})':b='lerp(70,235,${fall(420)})':a='255*min(1,1.25*${fall(330)}+0.30*${fall(1500)})',${STILL},format=yuva420p,${FOR_EVER}`;
}

/** A tiny still scaled up, which gives the smoothest gradient at the lowest cost. */
function sky(scene: Scene): string {
  const { width, height, fps, sceneSeconds } = SAMPLE;
  const x = scene.sunX / 20;
  const y = scene.sunY / 20;
  const distance = `((X-${x})^2+(Y-${y})^2)`;
  const disc = `min(1,exp(-${distance}/9)*1.3+0.25*exp(-${distance}/60))`;
  const channel = (index: 0 | 1 | 2) => {
    const part = (colour: string) => Number.parseInt(colour.slice(index * 2, index * 2 + 2), 16);
    const gradient = `lerp(${part(scene.top)},${part(scene.horizon)},min(1,pow(Y/34,1.5)))`;
    return `lerp(${gradient},${part(scene.sun)},${disc})`;
  };
  return (
    `color=black:s=27x48:r=${fps},format=gbrp,geq=r='${channel(0)}':g='${channel(1)}':b='${channel(2)}',${STILL},` +
    `scale=700:1060:flags=bicubic,${FOR_EVER},trim=duration=${sceneSeconds},` +
    `crop=${width}:${height}:x='80+${scene.direction}*22*(t-1.6)':y='50+14*sin(t*1.1)',format=yuv420p`
  );
}
