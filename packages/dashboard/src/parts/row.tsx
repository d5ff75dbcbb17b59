import { Icon, type IconName } from './icon.tsx';

/** One thing of a list: its picture, its name, lines that say more of it, and what can be done with it. */
export function Row(props: {
  icon: IconName;
  title: preact.ComponentChildren;
  isMono?: boolean;
  lines: preact.ComponentChildren;
  children?: preact.ComponentChildren;
}) {
  return (
    <div class="row">
      <span class="row-main">
        <Icon name={props.icon} />
        <span class="row-text">
          <span class={props.isMono === true ? 'row-title mono' : 'row-title'}>{props.title}</span>
          {props.lines}
        </span>
      </span>
      {props.children}
    </div>
  );
}
