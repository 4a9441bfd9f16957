export const a=1;if(a){a;}else{a;}for(const b of[1])b;function c(){return a?1:2}c();class D{x=()=>1;y=c()}new D().x();export{c,D};
