use wirecall_core::*; use std::time::Instant;
fn main(){
 let file=std::env::args().nth(1).unwrap(); let n:usize=std::env::args().nth(2).unwrap().parse().unwrap();
 let v:serde_json::Value=serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
 let defs=v["tools"].as_array().unwrap().iter().map(|t|Definition{name:t["name"].as_str().unwrap().into(),description:None,parameters:t["parameters"].to_string(),strict:false}).collect();
 let t=Toolset::new(defs,Options::default()).unwrap();
 let texts:Vec<String>=match v.get("texts"){Some(a)=>a.as_array().unwrap().iter().map(|x|x.as_str().unwrap().to_string()).collect(),None=>vec![v["text"].as_str().unwrap().to_string()]};
 let mut best=f64::MAX;let mut c=0;
 for _ in 0..n{let s=Instant::now();for x in &texts{c+=parse(&t,x,Some(false),false).len();}best=best.min(s.elapsed().as_secs_f64());}
 println!("whole {:.1} us items {}",best*1e6,c/n);
 if texts.len()==1&&std::env::args().nth(3).is_none(){ let x=&texts[0]; let cs:Vec<char>=x.chars().collect(); let ds:Vec<String>=cs.chunks(4).map(|c|c.iter().collect()).collect();
 best=f64::MAX; for _ in 0..n{let s=Instant::now();let mut k=0usize;let mut p=Parser::new(false);let mut f=|_:Event<'_>|k+=1;for d in &ds{p.feed(&t,d,&mut f);}p.finish(&t,None,&mut f);best=best.min(s.elapsed().as_secs_f64());std::hint::black_box(k);}
 println!("per delta {:.1} ns, {} deltas",best*1e9/ds.len() as f64,ds.len());}
}
