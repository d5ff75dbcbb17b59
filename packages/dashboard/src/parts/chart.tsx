/** The room that a line is drawn in; it is stretched to its place. */
const WIDTH = 150;
const HEIGHT = 40;
/** So many points have room at least: a line that has just begun does not jump about. */
const ROOM = 30;

/** A figure with the line of how it came about: the newest value at the right. */
export function Chart({
  name,
  value,
  points,
  top = 0,
}: {
  name: string;
  value: string;
  points: readonly number[];
  /** What the full height stands for at least. */
  top?: number;
}) {
  const highest = Math.max(top, ...points) || 1;
  const step = WIDTH / (Math.max(ROOM, points.length) - 1);
  const x = (at: number): string => (WIDTH - (points.length - 1 - at) * step).toFixed(1);
  const y = (point: number): number => HEIGHT - 1 - (point / highest) * (HEIGHT - 3);
  const line = points.map((point, at) => `${x(at)},${y(point).toFixed(1)}`).join(' ');
  return (
    <div class="figure">
      <span class="figure-name">{name}</span>
      <span class="figure-value">{value}</span>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`${x(0)},${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
        <polyline points={line} vector-effect="non-scaling-stroke" />
      </svg>
    </div>
  );
}
