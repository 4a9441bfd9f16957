namespace Shapes { export namespace Round { export const circle = () => "o"; } }
import Round = Shapes.Round;
export const drawn = Round.circle();
